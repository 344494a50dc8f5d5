package org.rowankv.jdbc.table;

import java.util.ArrayList;
import java.util.List;
import org.h2.command.query.AllColumnsForPlan;
import org.h2.engine.SessionLocal;
import org.h2.index.Cursor;
import org.h2.index.Index;
import org.h2.index.IndexType;
import org.h2.index.SingleRowCursor;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.h2.result.SearchRow;
import org.h2.result.SortOrder;
import org.h2.table.Column;
import org.h2.table.IndexColumn;
import org.h2.table.TableFilter;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;
import org.rowankv.jdbc.mapping.MappedColumn;

/** A way to the rows of a cache: by the key, or all of them in pages, or only their keys. Used by one session. */
final class CacheIndex extends Index {
    /** Ways to the rows. */
    enum Way {
        /** One get. */
        GET,
        /** All entries. */
        SCAN,
        /** All entries without their values. */
        SCAN_OF_KEYS
    }

    private static final double COST_OF_GET = 10;
    private static final double COST_OF_SCAN = 1_000;

    private final CacheTable cache;
    private final Way way;
    /** Where a statement uses it; null in {@link CacheTable#getIndexes}. */
    private final @Nullable TableFilter place;

    /** Whether the query reads the end of the lifetime there. */
    private final boolean readsExpiry;

    private final @Nullable LookUps lookUps;
    /** The last scan that was begun here. */
    private @Nullable CacheCursor lastScan;

    /** A scan, which uses no condition. */
    CacheIndex(CacheTable table, int id, Way way) {
        this(table, id, "", new IndexColumn[0], IndexType.createScan(false), way, null, false);
    }

    /** Gets by these columns, which are those of the key. */
    CacheIndex(CacheTable table, int id, String name, IndexColumn[] columns) {
        this(table, id, name, columns, IndexType.createPrimaryKey(false, true), Way.GET, null, false);
    }

    private CacheIndex(
            CacheTable table,
            int id,
            String name,
            IndexColumn[] columns,
            IndexType type,
            Way way,
            @Nullable TableFilter place,
            boolean readsExpiry) {
        super(table, id, name, columns, columns.length, type);
        this.cache = table;
        this.way = way;
        this.place = place;
        this.readsExpiry = readsExpiry;
        this.lookUps = way == Way.GET && place != null ? new LookUps(table, place) : null;
    }

    /** The same way, for one place of a statement. */
    CacheIndex at(TableFilter use, @Nullable AllColumnsForPlan ofPlan) {
        final ArrayList<Column> used = ofPlan == null || use.getSelect() == null ? null : ofPlan.get(cache);
        final boolean reads = used != null && used.contains(cache.expires());
        return new CacheIndex(cache, getId(), getName(), getIndexColumns(), getIndexType(), way, use, reads);
    }

    @Override
    public double getCost(
            SessionLocal session,
            int @Nullable [] masks,
            TableFilter @Nullable [] filters,
            int filter,
            @Nullable SortOrder sortOrder,
            @Nullable AllColumnsForPlan allColumnsSet) {
        final double rows = cache.getRowCountApproximation(session);
        return switch (way) {
            case GET -> masks != null && cache.findsBy(masks) ? COST_OF_GET : Long.MAX_VALUE;
            case SCAN -> COST_OF_SCAN + 2 * rows;
            case SCAN_OF_KEYS -> needsOnlyKeys(filters, filter, allColumnsSet) ? COST_OF_SCAN + rows : Long.MAX_VALUE;
        };
    }

    /** Whether a query reads no column of the value. */
    boolean needsOnlyKeys(TableFilter @Nullable [] filters, int filter, @Nullable AllColumnsForPlan allColumnsSet) {
        if (filters == null || allColumnsSet == null || filters[filter].getSelect() == null) {
            return false; // a statement that changes rows
        }
        final ArrayList<Column> used = allColumnsSet.get(filters[filter].getTable());
        return used == null || used.stream().allMatch(cache::isOfKeyScan);
    }

    @Override
    public Cursor find(SessionLocal session, @Nullable SearchRow first, @Nullable SearchRow last, boolean reverse) {
        if (way != Way.GET) {
            final Cursor begun = isOfChangedTable()
                    ? cache.scanToChange(session, readsExpiry())
                    : cache.scan(session, way == Way.SCAN, readsExpiry());
            lastScan = begun instanceof CacheCursor scan ? scan : null;
            return begun;
        }
        boolean isWhole = first != null && last != null;
        final List<MappedColumn> given = new ArrayList<>();
        for (MappedColumn key : cache.mapping().keys()) {
            final Value from = first == null ? null : first.getValue(key.place());
            final Value to = last == null ? null : last.getValue(key.place());
            if (isNull(from) || isNull(to)) {
                return SingleRowCursor.EMPTY;
            }
            if (from != null && to != null && session.compare(from, to) == 0) {
                given.add(key);
            } else {
                isWhole = false;
            }
        }
        if (first == null || !isWhole) {
            return new PartCursor(session, cache.scan(session, true, readsExpiry()), first, given);
        }
        final byte[] key = cache.keyOf(session, first);
        if (key == null) {
            return SingleRowCursor.EMPTY; // no entry has these values
        }
        final Row row =
                lookUps == null ? cache.get(key, readsExpiry()) : lookUps.find(session, first, key, readsExpiry());
        return row == null ? SingleRowCursor.EMPTY : new SingleRowCursor(row);
    }

    /** H2 says which columns a query reads, but not which a change does. */
    private boolean readsExpiry() {
        return readsExpiry || isOfChangedTable() && cache.changesByExpiry();
    }

    /** Whether the statement changes the rows of this place. */
    private boolean isOfChangedTable() {
        return place != null && place.getSelect() == null;
    }

    /** The rows that come after one in the scan that has returned it last, if they are read already. */
    List<Row> rowsAfter(@Nullable Row row, int most) {
        return lastScan != null && lastScan.isAt(row) ? lastScan.ahead(most) : List.of();
    }

    private static boolean isNull(@Nullable Value value) {
        return value != null && value.getValueType() == Value.NULL;
    }

    @Override
    public String getPlanSQL() {
        return switch (way) {
            case GET -> "GET";
            case SCAN -> "SCAN";
            case SCAN_OF_KEYS -> "SCAN OF KEYS";
        };
    }

    @Override
    public int getColumnIndex(Column column) {
        return way == Way.GET ? super.getColumnIndex(column) : -1; // a scan uses no condition
    }

    @Override
    public boolean isFirstColumn(Column column) {
        return way == Way.GET && super.isFirstColumn(column);
    }

    /** Tools see the indexes that have a text, though H2 does not run it. */
    @Override
    public @Nullable String getCreateSQL() {
        return way == Way.GET && getIndexColumns()[0].column.isPrimaryKey() ? "PRIMARY KEY" : null;
    }

    @Override
    public long getRowCount(SessionLocal session) {
        return cache.getRowCount(session);
    }

    @Override
    public long getRowCountApproximation(SessionLocal session) {
        return cache.getRowCountApproximation(session);
    }

    @Override
    public boolean needRebuild() {
        return false;
    }

    @Override
    public void close(SessionLocal session) {}

    @Override
    public void add(SessionLocal session, Row row) {
        throw DbException.getInternalError("rows are added to the cache");
    }

    @Override
    public void remove(SessionLocal session, Row row) {
        throw DbException.getInternalError("rows are removed from the cache");
    }

    @Override
    public void remove(SessionLocal session) {}

    @Override
    public void truncate(SessionLocal session) {
        throw DbException.getInternalError("the cache is cleared");
    }

    @Override
    public void checkRename() {
        throw SqlErrors.unsupported("RENAME");
    }
}
