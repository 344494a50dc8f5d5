package org.rowankv.jdbc.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import javax.cache.expiry.EternalExpiryPolicy;
import org.h2.command.Prepared;
import org.h2.command.query.AllColumnsForPlan;
import org.h2.constraint.ConstraintUnique;
import org.h2.engine.Constants;
import org.h2.engine.DbObject;
import org.h2.engine.NullsDistinct;
import org.h2.engine.SessionLocal;
import org.h2.index.Cursor;
import org.h2.index.Index;
import org.h2.index.IndexCondition;
import org.h2.index.IndexType;
import org.h2.message.DbException;
import org.h2.result.LocalResult;
import org.h2.result.Row;
import org.h2.result.SearchRow;
import org.h2.result.SortOrder;
import org.h2.table.Column;
import org.h2.table.IndexColumn;
import org.h2.table.TableFilter;
import org.h2.value.Value;
import org.h2.value.ValueBigint;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.ScanCursor;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.jdbc.mapping.CacheMapping;
import org.rowankv.jdbc.mapping.ColumnFinder;
import org.rowankv.jdbc.mapping.DeclaredColumns;
import org.rowankv.jdbc.mapping.MappedColumn;
import org.rowankv.jdbc.mapping.UnmappedException;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/**
 * A cache as a table: the columns of the key, those of the value, and the hidden {@code _EXPIRES} and {@code _VERSION}. A changed row is one
 * compare-and-set by the version at which the statement has read it, never a removal and an insertion; a row that
 * another writer has changed is left to another run of the statement. A statement is not atomic. CREATE TABLE begins
 * with a draft: the cache is created when the primary key is known. Used by one session.
 */
final class CacheTable extends FixedTable {
    private final CacheSchema cacheSchema;
    private final CacheStore store;
    private final long entries;
    private final CacheIndex scan;
    private final CacheIndex keyScan;
    private final RowChanges changes;
    /** Null if SQL has declared the columns. */
    private final @Nullable ColumnFinder columnFinder;

    private CacheMapping mapping;
    /** The columns of a draft; null once the cache exists. */
    private @Nullable List<Column> drafted;
    /** Of a draft: 0. */
    private int cacheId;

    private @Nullable CacheIndex byKey;
    private @Nullable KeptRows lastScan;
    /** False once an entry was met that has no place in these columns. */
    private boolean isCurrent;

    /** A cache whose columns were found in its entries. */
    CacheTable(
            CacheSchema schema,
            Catalogue.CacheRecord cache,
            String expiryClass,
            ColumnFinder columnFinder,
            long entries) {
        this(schema, cache.name(), expiryClass, columnFinder, columnFinder.find(), entries, null);
        this.isCurrent = !columnFinder.isEmpty();
        setColumns(TableColumns.withHidden(TableColumns.of(mapping)));
        complete(cache.id());
    }

    /** A cache whose columns SQL has declared. */
    CacheTable(
            CacheSchema schema,
            Catalogue.CacheRecord cache,
            String expiryClass,
            DeclaredColumns declared,
            long entries) {
        this(schema, cache.name(), expiryClass, null, declared.mapping(), entries, null);
        setColumns(TableColumns.withHidden(declared.columns()));
        complete(cache.id());
    }

    /** A draft of these columns, of which none is known to be the key's yet. */
    CacheTable(CacheSchema schema, String name, DeclaredColumns declared, List<Column> columns) {
        this(schema, name, EternalExpiryPolicy.class.getName(), null, declared.mapping(), 0, columns);
        setColumns(TableColumns.withHidden(columns));
    }

    private CacheTable(
            CacheSchema schema,
            String name,
            String expiryClass,
            @Nullable ColumnFinder columnFinder,
            CacheMapping mapping,
            long entries,
            @Nullable List<Column> drafted) {
        super(schema, name);
        this.cacheSchema = schema;
        this.store = schema.store();
        this.columnFinder = columnFinder;
        this.mapping = mapping;
        this.entries = entries;
        this.drafted = drafted;
        this.isCurrent = true;
        this.changes = new RowChanges(this, store, schema.scope(), expiryClass);
        this.scan = new CacheIndex(this, database.allocateObjectId(), CacheIndex.Way.SCAN);
        this.keyScan = new CacheIndex(this, database.allocateObjectId(), CacheIndex.Way.SCAN_OF_KEYS);
        add(0, scan);
        add(1, keyScan);
    }

    /** Makes the table one of a cache that exists. */
    private void complete(int id) {
        cacheId = id;
        drafted = null;
        final boolean isHidden =
                mapping.keys().stream().anyMatch(key -> !getColumn(key.place()).getVisible());
        mapping.keys().forEach(key -> getColumn(key.place()).setPrimaryKey(!isHidden));
        if (byKey == null) {
            final IndexColumn[] columns = mapping.keys().stream()
                    .map(key -> IndexColumn.wrap(new Column[] {getColumn(key.place())})[0])
                    .toArray(IndexColumn[]::new);
            setKey(new CacheIndex(this, database.allocateObjectId(), "PRIMARY_KEY_" + id, columns));
            if (!isHidden) {
                addConstraint(primaryKey(columns));
            }
        }
    }

    private void setKey(CacheIndex index) {
        byKey = index;
        add(1, index);
    }

    /** For tools alone: the index and the conditional writes hold it. */
    private ConstraintUnique primaryKey(IndexColumn[] keyColumns) {
        final CacheIndex index = key();
        final ConstraintUnique constraint = new ConstraintUnique(
                getSchema(), database.allocateObjectId(), index.getName(), this, true, NullsDistinct.DISTINCT);
        constraint.setColumns(keyColumns);
        constraint.setIndex(index, false);
        return constraint;
    }

    /** CREATE TABLE asks for dependencies when it has made the constraints: then the primary key is known. */
    @Override
    public void addDependencies(HashSet<DbObject> dependencies) {
        super.addDependencies(dependencies);
        if (drafted == null) {
            return;
        }
        final DeclaredColumns declared = DeclaredColumns.of(
                drafted,
                byKey == null
                        ? List.of()
                        : Arrays.stream(byKey.getIndexColumns())
                                .map(each -> each.column.getName())
                                .toList());
        mapping = declared.mapping();
        if (declared.hasHiddenKey()) {
            final List<Column> all = new ArrayList<>(drafted);
            final List<Column> withKey = declared.columns();
            all.add(withKey.get(withKey.size() - 1));
            setColumns(TableColumns.withHidden(all));
        }
        complete(cacheSchema.create(this, declared));
    }

    CacheMapping mapping() {
        return mapping;
    }

    int cacheId() {
        return cacheId;
    }

    CacheIndex key() {
        if (byKey == null) {
            throw DbException.getInternalError("the draft of a table is used");
        }
        return byKey;
    }

    /** Whether all entries that were met have a place in the columns. */
    boolean isCurrent() {
        return isCurrent;
    }

    @Nullable
    ColumnFinder columnFinder() {
        return columnFinder;
    }

    /** Whether conditions of these masks find an entry by its key. */
    boolean findsBy(int[] masks) {
        return mapping.isFoundByKey()
                && mapping.keys().stream()
                        .allMatch(key -> (masks[key.place()] & IndexCondition.EQUALITY) == IndexCondition.EQUALITY);
    }

    /** Whether a scan of keys has the column. */
    boolean isOfKeyScan(Column column) {
        return !column.getVisible() && column.getColumnId() >= TableColumns.expires(getColumns().length)
                || mapping.keys().stream().anyMatch(key -> key.place() == column.getColumnId());
    }

    /** The column of the end of the lifetime. */
    Column expires() {
        return getColumn(TableColumns.expires(getColumns().length));
    }

    /** Whether the statement, which changes rows, may name that column. */
    boolean changesByExpiry() {
        return scope().names(TableColumns.EXPIRES);
    }

    // --- reading ---

    Cursor scan(SessionLocal session, boolean withValues, boolean withExpiry) {
        final StatementScope scope = scope();
        if (!isCurrent) {
            database.getNextModificationMetaId(); // compiled again: entries may show more than there was
        }
        changes.beforeReads();
        scope.leaveOutDeferred();
        if (withValues && lastScan != null && lastScan.serves(scope.dataId())) {
            return lastScan.cursor(session, scope);
        }
        final boolean isQuery = session.getCurrentCommand() != null
                && session.getCurrentCommand().isQuery();
        lastScan = withValues && isQuery ? new KeptRows(scope.dataId()) : null;
        final ScanCursor pages = store.client().scan(cacheId, withValues && !withExpiry);
        return new CacheCursor(this, session, scope, pages, withValues, withExpiry, lastScan);
    }

    /** The rows that a statement may change: all, or if it runs again, those that it has lost. */
    Cursor scanToChange(SessionLocal session, boolean withExpiry) {
        final Collection<byte[]> again = scope().again();
        return again.isEmpty() ? scan(session, true, withExpiry) : new KeyCursor(this, again, withExpiry);
    }

    /** Whether requests that are sent together take little longer than one. */
    boolean isRemote() {
        return store.client().isRemote();
    }

    StatementScope scope() {
        return cacheSchema.scope();
    }

    /** Whether this run of the statement may change the row of that key, once it is known what became of earlier writes. */
    boolean admits(byte[] key) {
        changes.beforeRead(key);
        if (scope().admits(key)) {
            return true;
        }
        scope().leaveOut(key);
        return false;
    }

    /** The row of the entry of that key, or null. */
    @Nullable
    Row get(byte[] key, boolean withExpiry) {
        changes.beforeRead(key);
        final Request request = new Request().get(cacheId, key, 0, key.length).requestExpiry(withExpiry);
        store.execute(request);
        return rowOf(request);
    }

    /** Reads that are sent together, each with its outcome. */
    List<Request> getAll(Collection<byte[]> keys, boolean withExpiry, boolean withValues) {
        keys.forEach(changes::beforeRead);
        final List<Request> reads = keys.stream()
                .map(key -> new Request()
                        .get(cacheId, key, 0, key.length)
                        .requestValue(withValues)
                        .requestExpiry(withExpiry))
                .toList();
        store.executeAll(cacheId, reads);
        reads.forEach(CacheStore::check);
        return reads;
    }

    /** The row that was read; null if there is none. */
    @Nullable
    Row rowOf(Request read) {
        return read.status() == Status.OK
                ? rowOf(
                        read.key(),
                        read.resultBytes(),
                        read.version(),
                        read.needsExpiry() ? TableColumns.expires(read) : null)
                : null;
    }

    /** The bytes of the key that equals the values; null if no key of this cache does. */
    byte @Nullable [] keyOf(SessionLocal session, SearchRow wanted) {
        final Value[] values = new Value[getColumns().length];
        try {
            for (MappedColumn each : mapping.keys()) {
                final Value value = wanted.getValue(each.place());
                values[each.place()] = value.convertTo(getColumn(each.place()).getType(), session);
                if (session.compare(values[each.place()], value) != 0) {
                    return null;
                }
            }
            final byte[] key = mapping.newKey(values, session);
            if (key == null) {
                return null;
            }
            mapping.readKey(key, values, store.codec());
            for (MappedColumn each : mapping.keys()) {
                if (session.compare(values[each.place()], wanted.getValue(each.place())) != 0) {
                    return null;
                }
            }
            return key;
        } catch (DbException | IllegalArgumentException | ArithmeticException e) {
            return null; // no key has a value that the column cannot hold
        }
    }

    /** A row; without a value or the end of the lifetime, one that reads these when they are asked for. */
    Row rowOf(byte[] key, byte @Nullable [] value, long version, @Nullable Value expires) {
        final Value[] values = new Value[getColumns().length];
        try {
            mapping.readKey(key, values, store.codec());
            values[TableColumns.expires(values.length)] = expires;
            values[values.length - 1] = ValueBigint.get(version);
            if (value != null) {
                mapping.readValue(value, values, store.codec());
            }
            return new CacheRow(this, values, key, value);
        } catch (UnmappedException e) {
            if (columnFinder == null) {
                throw DbException.fromUser(
                        "22018", "the cache " + getName() + " has entries beside its columns: " + e.getMessage());
            }
            learn(columnFinder, key, value);
            throw DbException.fromUser(
                    "HY000",
                    "the cache " + getName() + " has entries beside those from which its columns were found: "
                            + e.getMessage() + ". Run the statement once more, with columns for these");
        }
    }

    private void learn(ColumnFinder finder, byte[] key, byte @Nullable [] value) {
        if (value != null) {
            finder.see(key, value);
        }
        isCurrent = false;
        database.getNextModificationMetaId(); // prepared statements are compiled again
    }

    // --- changes ---

    @Override
    public void fire(SessionLocal session, int type, boolean beforeAction) {
        if (beforeAction) {
            changes.begin();
        } else {
            changes.end(session);
        }
    }

    @Override
    public boolean isRowLockable() {
        return true;
    }

    /** The row, if this run of the statement changes it. Nothing is locked. */
    @Override
    public @Nullable Row lockRow(SessionLocal session, Row row, int timeoutMillis) {
        if (session.getCurrentCommand() != null && session.getCurrentCommand().isQuery()) {
            throw SqlErrors.unsupported("FOR UPDATE, or a change within a query,");
        }
        final byte[] key = bytesOfKey(session, row);
        if (!scope().admits(key)) {
            return null;
        }
        if (!mapping.isFoundByKey()) {
            row.setKey(changes.remember(key));
        }
        if (row instanceof CacheRow found) {
            found.leaveOutExpiry();
            changes.keep(found);
        }
        return row;
    }

    byte[] bytesOfKey(SessionLocal session, Row row) {
        if (row instanceof CacheRow found) {
            return found.key();
        }
        // H2 copies the values of rows to change: where they do not tell the bytes, their number does.
        final byte[] key =
                mapping.isFoundByKey() ? mapping.newKey(row.getValueList(), session) : changes.remembered(row.getKey());
        if (key == null) {
            throw new IllegalArgumentException("a key is not null");
        }
        return key;
    }

    @Override
    public void addRow(SessionLocal session, Row row) {
        changes.insert(session, row);
    }

    @Override
    public void updateRows(Prepared prepared, SessionLocal session, LocalResult rows) {
        changes.update(prepared, session, rows);
    }

    /** Removes the row at the end of the statement, in a batch. */
    @Override
    public void removeRow(SessionLocal session, Row row) {
        changes.remove(session, row);
    }

    @Override
    public boolean canTruncate() {
        return true;
    }

    @Override
    public long truncate(SessionLocal session) {
        final long count = store.objects(cacheId);
        store.clear(cacheId);
        return count;
    }

    @Override
    public void removeChildrenAndResources(SessionLocal session) {
        super.removeChildrenAndResources(session);
        if (drafted == null) {
            store.destroy(getName(), cacheId);
        }
        invalidate();
    }

    // --- what H2 asks of a table ---

    @Override
    public Index getScanIndex(
            SessionLocal session,
            int @Nullable [] masks,
            TableFilter @Nullable [] filters,
            int filter,
            @Nullable SortOrder sortOrder,
            @Nullable AllColumnsForPlan allColumnsSet) {
        final CacheIndex way = keyScan.needsOnlyKeys(filters, filter, allColumnsSet) ? keyScan : scan;
        return filters == null ? way : way.at(filters[filter], allColumnsSet);
    }

    @Override
    public Index addIndex(
            SessionLocal session,
            String indexName,
            int indexId,
            IndexColumn[] columns,
            int uniqueColumnCount,
            IndexType indexType,
            boolean create,
            String indexComment) {
        if (drafted == null || !indexType.isPrimaryKey()) {
            throw SqlErrors.unsupported("CREATE INDEX");
        }
        final CacheIndex index = new CacheIndex(this, indexId, indexName, columns);
        setKey(index);
        return index;
    }

    @Override
    public long getRowCountApproximation(SessionLocal session) {
        return Math.max(entries, Constants.COST_ROW_OFFSET);
    }

    /** Other clients change the cache unseen, so a result is used again only within one statement. */
    @Override
    public long getMaxDataModificationId() {
        return scope().dataId();
    }
}
