package org.rowankv.jdbc.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.cache.CacheException;
import javax.cache.expiry.EternalExpiryPolicy;
import org.h2.api.ErrorCode;
import org.h2.command.ddl.CreateTableData;
import org.h2.constraint.Constraint;
import org.h2.engine.Database;
import org.h2.engine.DbObject;
import org.h2.engine.RightOwner;
import org.h2.engine.SessionLocal;
import org.h2.message.DbException;
import org.h2.schema.Schema;
import org.h2.schema.SchemaObject;
import org.h2.table.Column;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.ScanCursor;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.jcache.codec.KeyFormat;
import org.rowankv.jcache.configuration.CacheDescriptor;
import org.rowankv.jdbc.mapping.ColumnFinder;
import org.rowankv.jdbc.mapping.DeclaredColumns;

/**
 * The schema of a connection whose tables are the caches of the store. A table is made when a statement names it, from
 * the catalogue as it is then; its columns from the first entries. Nothing else lives here but temporary tables. Used by
 * one session.
 */
public final class CacheSchema extends Schema {
    /** Entries that are read to find the columns of a cache. */
    private static final int SAMPLE = 256;

    private final CacheStore store;
    private final StatementScope scope;
    private final Map<Integer, CacheTable> tables = new HashMap<>();
    /** A table that CREATE TABLE makes just now. */
    private @Nullable CacheTable draft;

    public CacheSchema(
            Database database, int id, String name, RightOwner owner, CacheStore store, StatementScope scope) {
        super(database, id, name, owner, false);
        this.store = store;
        this.scope = scope;
    }

    CacheStore store() {
        return store;
    }

    StatementScope scope() {
        return scope;
    }

    @Override
    public boolean canDrop() {
        return false;
    }

    @Override
    public @Nullable Table findTableOrView(SessionLocal session, String name) {
        if (draft != null && draft.getName().equalsIgnoreCase(name)) {
            return draft;
        }
        final Table temporary = super.findTableOrView(session, name);
        return temporary != null ? temporary : find(name);
    }

    @Override
    public Table getTableOrView(SessionLocal session, String name) {
        final Table found = findTableOrView(session, name);
        if (found == null) {
            throw DbException.get(ErrorCode.TABLE_OR_VIEW_NOT_FOUND_1, name);
        }
        return found;
    }

    private @Nullable CacheTable find(String name) {
        try {
            Catalogue.CacheRecord cache = store.client().catalogue().find(name);
            if (cache == null) {
                final List<Catalogue.CacheRecord> alike = store.client().catalogue().list().stream()
                        .filter(each -> each.name().equalsIgnoreCase(name))
                        .toList();
                if (alike.size() != 1) {
                    return null;
                }
                cache = alike.get(0);
            }
            return tableOf(cache);
        } catch (RowanException e) {
            throw SqlErrors.of(e);
        }
    }

    private CacheTable tableOf(Catalogue.CacheRecord cache) {
        final CacheTable known = tables.get(cache.id());
        if (known != null && known.isCurrent()) {
            return known;
        }
        final CacheDescriptor descriptor = descriptorOf(cache);
        final String expiryClass = descriptor == null ? EternalExpiryPolicy.class.getName() : descriptor.expiryClass();
        final CacheTable table;
        if (descriptor == null || descriptor.columns().isEmpty()) {
            final ColumnFinder given = known == null ? null : known.columnFinder();
            final ColumnFinder columns = given == null ? new ColumnFinder(descriptor, store.loader()) : given;
            if (columns.isEmpty()) {
                sample(cache.id(), columns);
            }
            table = new CacheTable(this, cache, expiryClass, columns, objects(cache.id()));
        } else {
            table = new CacheTable(
                    this, cache, expiryClass, DeclaredColumns.parse(descriptor.columns()), objects(cache.id()));
        }
        tables.put(cache.id(), table);
        return table;
    }

    private long objects(int cacheId) {
        return store.client().catalogue().objects(cacheId);
    }

    private void sample(int cacheId, ColumnFinder columns) {
        final ScanCursor cursor = store.client().scan(cacheId, true);
        for (int i = 0; i < SAMPLE && cursor.hasNext(); i++) {
            final ScanPage.Entry entry = cursor.next();
            final byte[] value = entry.value();
            if (value != null) {
                columns.see(entry.key(), value);
            }
        }
    }

    /** Null for a cache that a client without a codec has made. */
    private static @Nullable CacheDescriptor descriptorOf(Catalogue.CacheRecord cache) {
        if (cache.descriptor().length == 0) {
            return null;
        }
        try {
            return CacheDescriptor.of(cache.descriptor());
        } catch (CacheException e) {
            throw DbException.fromUser("0A000", e.getMessage());
        }
    }

    /** All caches; without a session only those that statements have named. */
    @Override
    public Collection<Table> getAllTablesAndViews(@Nullable SessionLocal session) {
        final List<Table> all = new ArrayList<>(super.getAllTablesAndViews(session));
        if (session == null) {
            all.addAll(tables.values());
            return all;
        }
        final Set<Integer> present = new HashSet<>();
        try {
            for (Catalogue.CacheRecord cache : store.client().catalogue().list()) {
                all.add(tableOf(cache));
                present.add(cache.id());
            }
        } catch (RowanException e) {
            throw SqlErrors.of(e);
        }
        tables.keySet().retainAll(present);
        return all;
    }

    @Override
    public Collection<Constraint> getAllConstraints() {
        final List<Constraint> all = new ArrayList<>();
        tables.values().forEach(table -> all.addAll(table.getConstraints()));
        return all;
    }

    /** Accepts what {@link #createTable} has made, and the primary key that a table has anyway. */
    @Override
    public void add(SchemaObject object) {
        final boolean isOfCache = object instanceof CacheTable
                || object instanceof Constraint constraint
                        && constraint.getConstraintType() == Constraint.Type.PRIMARY_KEY
                        && constraint.getTable() instanceof CacheTable;
        if (!isOfCache) {
            throw SqlErrors.unsupported("CREATE " + typeName(object.getType()));
        }
    }

    private static String typeName(int type) {
        return switch (type) {
            case DbObject.TABLE_OR_VIEW -> "TABLE or VIEW";
            case DbObject.INDEX -> "INDEX";
            case DbObject.SEQUENCE -> "SEQUENCE";
            case DbObject.CONSTRAINT -> "CONSTRAINT";
            case DbObject.DOMAIN -> "DOMAIN";
            case DbObject.SYNONYM -> "SYNONYM";
            case DbObject.CONSTANT -> "CONSTANT";
            default -> "of such an object";
        };
    }

    @Override
    public void remove(SchemaObject object) {
        if (object instanceof CacheTable table) {
            tables.remove(table.cacheId());
            draft = null;
        } else if (!(object instanceof Constraint) && !(object instanceof CacheIndex)) { // of a cache
            super.remove(object);
        }
    }

    @Override
    public void rename(SchemaObject object, String newName) {
        throw SqlErrors.unsupported("RENAME");
    }

    @Override
    public Table createTable(CreateTableData data) {
        if (data.temporary && data.globalTemporary) {
            throw SqlErrors.unsupported("CREATE GLOBAL TEMPORARY TABLE, other than LOCAL,");
        }
        if (data.temporary) {
            return super.createTable(data);
        }
        data.columns.forEach(CacheSchema::requirePlain);
        draft = new CacheTable(this, data.tableName, DeclaredColumns.of(data.columns, List.of()), data.columns);
        return draft;
    }

    private static void requirePlain(Column column) {
        final boolean isPlain = column.getEffectiveDefaultExpression() == null
                && column.getEffectiveOnUpdateExpression() == null
                && !column.isIdentity()
                && !column.isGenerated()
                && column.getVisible();
        if (!isPlain || !DeclaredColumns.canHold(column)) {
            throw SqlErrors.unsupported("CREATE TABLE with a column " + column.getCreateSQL());
        }
    }

    /** Creates the cache of a draft, and returns its id. */
    int create(CacheTable table, DeclaredColumns declared) {
        draft = null;
        final CacheDescriptor wanted = new CacheDescriptor(
                declared.keyClass(),
                declared.valueClass(),
                EternalExpiryPolicy.class.getName(),
                KeyFormat.STRUCTURAL,
                "",
                declared.toString());
        try {
            final byte[] descriptor = wanted.toBytes();
            final Catalogue.CacheRecord cache = store.client().catalogue().create(table.getName(), descriptor);
            final boolean isNew = Arrays.equals(cache.descriptor(), descriptor) && objects(cache.id()) == 0;
            if (!isNew) {
                throw DbException.get(
                        ErrorCode.TABLE_OR_VIEW_ALREADY_EXISTS_1, table.getName()); // by another client just now
            }
            tables.put(cache.id(), table);
            return cache.id();
        } catch (RowanException e) {
            throw SqlErrors.of(e);
        } catch (IllegalArgumentException e) { // too long a name, or too many columns
            throw DbException.fromUser("54000", e.getMessage());
        }
    }
}
