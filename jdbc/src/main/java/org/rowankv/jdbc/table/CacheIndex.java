package org.rowankv.jdbc.table;

import java.util.ArrayList;
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

    CacheIndex(CacheTable table, int id, String name, IndexColumn[] columns, Way way) {
        super(
                table,
                id,
                name,
                columns,
                way == Way.GET ? 1 : 0,
                way == Way.GET ? IndexType.createPrimaryKey(false, true) : IndexType.createScan(false));
        this.cache = table;
        this.way = way;
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
    static boolean needsOnlyKeys(
            TableFilter @Nullable [] filters, int filter, @Nullable AllColumnsForPlan allColumnsSet) {
        if (filters == null || allColumnsSet == null || filters[filter].getSelect() == null) {
            return false; // a statement that changes rows
        }
        final ArrayList<Column> used = allColumnsSet.get(filters[filter].getTable());
        return used == null || used.stream().allMatch(CacheTable::isOfKeyScan);
    }

    @Override
    public Cursor find(SessionLocal session, @Nullable SearchRow first, @Nullable SearchRow last, boolean reverse) {
        if (way != Way.GET) {
            return cache.scan(session, way == Way.SCAN);
        }
        final Value from = first == null ? null : first.getValue(CacheTable.KEY);
        final Value to = last == null ? null : last.getValue(CacheTable.KEY);
        if (from == null || to == null || session.compare(from, to) != 0) {
            return cache.scan(session, true); // the conditions are evaluated anyway
        }
        final Row row = from.getValueType() == Value.NULL ? null : cache.get(session, from);
        return row == null ? SingleRowCursor.EMPTY : new SingleRowCursor(row);
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

    @Override
    public @Nullable String getCreateSQL() {
        return null;
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
