package org.rowankv.jdbc.table;

import java.util.ArrayList;
import java.util.List;
import org.h2.api.Trigger;
import org.h2.command.Prepared;
import org.h2.command.query.AllColumnsForPlan;
import org.h2.constraint.ConstraintUnique;
import org.h2.engine.Constants;
import org.h2.engine.NullsDistinct;
import org.h2.engine.SessionLocal;
import org.h2.index.Cursor;
import org.h2.index.Index;
import org.h2.index.IndexType;
import org.h2.message.DbException;
import org.h2.result.LocalResult;
import org.h2.result.Row;
import org.h2.result.SortOrder;
import org.h2.table.Column;
import org.h2.table.IndexColumn;
import org.h2.table.Table;
import org.h2.table.TableFilter;
import org.h2.table.TableType;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueBigint;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.jcache.configuration.CacheDescriptor;
import org.rowankv.jdbc.mapping.CacheMapping;
import org.rowankv.jdbc.mapping.ColumnFinder;
import org.rowankv.jdbc.mapping.MappedColumn;
import org.rowankv.jdbc.mapping.UnmappedException;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/**
 * A cache as a table: the key, the columns of the value, and the hidden {@code _VERSION}. A changed row is one
 * compare-and-set by the version at which the statement has read it, never a removal and an insertion; a row that
 * another writer has changed is left to another run of the statement. A statement is not atomic. Used by one session.
 */
final class CacheTable extends Table {
    /** The place of the key's column; the value's follow. */
    static final int KEY = 0;

    static final int FIRST_OF_VALUE = 1;
    static final String VERSION = "_VERSION";

    private final CacheSchema cacheSchema;
    private final CacheStore store;
    private final Catalogue.CacheRecord cache;
    private final ColumnFinder columnFinder;
    private final CacheMapping mapping;
    private final long entries;
    private final CacheIndex byKey;
    private final CacheIndex scan;
    private final CacheIndex keyScan;
    private final ArrayList<Index> indexes = new ArrayList<>();
    private final RowChanges changes;
    /** False once an entry was met that has no place in these columns. */
    private boolean isCurrent = true;

    CacheTable(
            CacheSchema schema,
            Catalogue.CacheRecord cache,
            CacheDescriptor descriptor,
            ColumnFinder columnFinder,
            long entries) {
        super(schema, schema.getDatabase().allocateObjectId(), cache.name(), false, false);
        this.cacheSchema = schema;
        this.store = schema.store();
        this.cache = cache;
        this.columnFinder = columnFinder;
        this.mapping = columnFinder.find();
        this.changes = new RowChanges(this, mapping, store, schema.scope(), descriptor);
        this.entries = entries;
        this.isCurrent = !columnFinder.isEmpty();
        setColumns(columnsOf(mapping));
        final IndexColumn[] keyColumns = IndexColumn.wrap(new Column[] {getColumn(KEY)});
        this.scan = index("", null, CacheIndex.Way.SCAN);
        this.byKey = index("PRIMARY_KEY_" + cache.id(), keyColumns, CacheIndex.Way.GET);
        this.keyScan = index("", null, CacheIndex.Way.SCAN_OF_KEYS);
        indexes.add(scan);
        indexes.add(byKey);
        indexes.add(keyScan);
        getColumn(KEY).setPrimaryKey(true);
        addConstraint(primaryKey(keyColumns));
    }

    /** For tools alone: the index and the conditional writes hold it. */
    private ConstraintUnique primaryKey(IndexColumn[] keyColumns) {
        final ConstraintUnique constraint = new ConstraintUnique(
                getSchema(), database.allocateObjectId(), byKey.getName(), this, true, NullsDistinct.DISTINCT);
        constraint.setColumns(keyColumns);
        constraint.setIndex(byKey, false);
        return constraint;
    }

    private CacheIndex index(String name, IndexColumn @Nullable [] columns, CacheIndex.Way way) {
        return new CacheIndex(
                this,
                database.allocateObjectId(),
                name,
                columns == null ? IndexColumn.wrap(getColumns()) : columns,
                way);
    }

    private static Column[] columnsOf(CacheMapping mapping) {
        final List<Column> columns = new ArrayList<>();
        columns.add(column(mapping.key(), false));
        mapping.columns().forEach(each -> columns.add(column(each, each.nullable())));
        String name = VERSION;
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).getName().equalsIgnoreCase(name)) {
                name = '_' + name;
                i = -1;
            }
        }
        final Column version = new Column(name, TypeInfo.TYPE_BIGINT);
        version.setVisible(false);
        columns.add(version);
        return columns.toArray(new Column[0]);
    }

    private static Column column(MappedColumn mapped, boolean nullable) {
        final Column column = new Column(mapped.name(), mapped.type().sqlType());
        column.setNullable(nullable);
        return column;
    }

    int cacheId() {
        return cache.id();
    }

    /** Whether all entries that were met have a place in the columns. */
    boolean isCurrent() {
        return isCurrent;
    }

    /** Takes the declared columns for complete. The statement that creates the cache declares the primary key itself. */
    void declareAll() {
        isCurrent = true;
        List.copyOf(getConstraints()).forEach(this::removeConstraint);
    }

    ColumnFinder columnFinder() {
        return columnFinder;
    }

    /** Whether conditions of these masks find an entry by its key. */
    boolean findsBy(int[] masks) {
        return mapping.key().type().isKey()
                && (masks[KEY] & org.h2.index.IndexCondition.EQUALITY) == org.h2.index.IndexCondition.EQUALITY;
    }

    /** Whether a scan of keys has the column. */
    static boolean isOfKeyScan(Column column) {
        return column.getColumnId() == KEY
                || column.getColumnId() == column.getTable().getColumns().length - 1;
    }

    // --- reading ---

    Cursor scan(SessionLocal session, boolean withValues) {
        return new CacheCursor(
                this, session, cacheSchema.scope(), store.client().scan(cache.id(), withValues), withValues);
    }

    /** The row of the entry whose key has that value, or null. */
    @Nullable
    Row get(SessionLocal session, Value value) {
        final byte[] key = keyOf(session, value);
        return key == null ? null : get(key);
    }

    @Nullable
    Row get(byte[] key) {
        final Request request = new Request().get(cache.id(), key, 0, key.length);
        store.execute(request);
        final byte[] found = request.status() == Status.OK ? request.resultBytes() : null;
        return found == null ? null : rowOf(key, found, request.version());
    }

    /** The bytes of the key that equals the value; null if no key of this cache does. */
    private byte @Nullable [] keyOf(SessionLocal session, Value value) {
        try {
            final Value converted = value.convertTo(getColumn(KEY).getType(), session);
            if (session.compare(converted, value) != 0) {
                return null;
            }
            final byte[] key = mapping.key().write(converted, session);
            return key == null || session.compare(readKey(key), value) != 0 ? null : key;
        } catch (DbException | IllegalArgumentException | ArithmeticException e) {
            return null; // no key has a value that the column cannot hold
        }
    }

    private Value readKey(byte[] key) {
        return mapping.key().read(key, 0, key.length, store.codec());
    }

    /** A row; without a value, one that reads it when it is asked for. */
    Row rowOf(byte[] key, byte @Nullable [] value, long version) {
        final Value[] values = new Value[getColumns().length];
        try {
            values[KEY] = readKey(key);
            values[values.length - 1] = ValueBigint.get(version);
            if (value == null) {
                return new CacheRow(this, values, key);
            }
            mapping.readValue(value, values, FIRST_OF_VALUE, store.codec());
            return new CacheRow(this, values, key);
        } catch (UnmappedException e) {
            learn(key, value);
            throw DbException.fromUser(
                    "HY000",
                    "the cache " + getName() + " has entries beside those from which its columns were found: "
                            + e.getMessage() + ". Run the statement once more, with columns for these");
        }
    }

    private void learn(byte[] key, byte @Nullable [] value) {
        if (value != null) {
            columnFinder.see(key, value);
        }
        isCurrent = false;
        database.getNextModificationMetaId(); // prepared statements are compiled again
    }

    // --- changes ---

    @Override
    public void fire(SessionLocal session, int type, boolean beforeAction) {
        if (beforeAction) {
            changes.begin();
        } else if ((type & Trigger.DELETE) != 0) {
            changes.flushRemovals(session);
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
            throw SqlErrors.unsupported("FOR UPDATE");
        }
        final byte[] key = bytesOfKey(session, row);
        if (!cacheSchema.scope().admits(key)) {
            return null;
        }
        if (!mapping.key().type().isKey()) {
            row.setKey(changes.remember(key));
        }
        return row;
    }

    byte[] bytesOfKey(SessionLocal session, Row row) {
        if (row instanceof CacheRow found) {
            return found.key();
        }
        // H2 copies the values of rows to change: where they do not tell the bytes, their number does.
        final byte[] key = mapping.key().type().isKey()
                ? mapping.key().write(row.getValue(KEY), session)
                : changes.remembered(row.getKey());
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
        final long count = getRowCountApproximation(session);
        store.clear(cache.id());
        return count;
    }

    @Override
    public void removeChildrenAndResources(SessionLocal session) {
        super.removeChildrenAndResources(session);
        store.destroy(cache.name(), cache.id());
        invalidate();
    }

    // --- what H2 asks of a table ---

    @Override
    public Index getScanIndex(SessionLocal session) {
        return scan;
    }

    @Override
    public Index getScanIndex(
            SessionLocal session,
            int @Nullable [] masks,
            TableFilter @Nullable [] filters,
            int filter,
            @Nullable SortOrder sortOrder,
            @Nullable AllColumnsForPlan allColumnsSet) {
        return CacheIndex.needsOnlyKeys(filters, filter, allColumnsSet) ? keyScan : scan;
    }

    @Override
    public ArrayList<Index> getIndexes() {
        return indexes;
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
        throw SqlErrors.unsupported("CREATE INDEX");
    }

    @Override
    public boolean fireRow() {
        return false;
    }

    @Override
    public TableType getTableType() {
        return TableType.TABLE;
    }

    @Override
    public long getRowCountApproximation(SessionLocal session) {
        return Math.max(entries, Constants.COST_ROW_OFFSET);
    }

    @Override
    public long getRowCount(SessionLocal session) {
        throw DbException.getInternalError("rows are counted by a scan");
    }

    @Override
    public boolean canGetRowCount(SessionLocal session) {
        return false;
    }

    @Override
    public boolean isDeterministic() {
        return true;
    }

    /** Other clients change the cache unseen, so a result is used again only within one statement. */
    @Override
    public long getMaxDataModificationId() {
        return cacheSchema.scope().dataId();
    }

    @Override
    public boolean canDrop() {
        return true;
    }

    @Override
    public void checkSupportAlter() {
        throw SqlErrors.unsupported("ALTER TABLE");
    }

    @Override
    public void checkRename() {
        throw SqlErrors.unsupported("RENAME");
    }

    @Override
    public void close(SessionLocal session) {}

    @Override
    public String getCreateSQL() {
        return "CREATE TABLE " + getSQL(DEFAULT_SQL_FLAGS);
    }

    @Override
    public String getCreateSQLForCopy(Table table, String quotedName) {
        throw SqlErrors.unsupported("a copy of the definition");
    }
}
