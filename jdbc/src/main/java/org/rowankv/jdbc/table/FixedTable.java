package org.rowankv.jdbc.table;

import java.util.ArrayList;
import org.h2.command.query.AllColumnsForPlan;
import org.h2.engine.SessionLocal;
import org.h2.index.Index;
import org.h2.message.DbException;
import org.h2.result.SortOrder;
import org.h2.schema.Schema;
import org.h2.table.Column;
import org.h2.table.PlanItem;
import org.h2.table.Table;
import org.h2.table.TableFilter;
import org.h2.table.TableType;
import org.h2.table.TableView;
import org.jspecify.annotations.Nullable;

/** A table of H2 whose definition does not change, without triggers for rows, whose rows only a scan counts. */
abstract class FixedTable extends Table {
    /** The first is the scan. */
    private final ArrayList<Index> indexes = new ArrayList<>();
    /** Those of the place of a statement that is planned just now. */
    private @Nullable ArrayList<Index> planned;

    FixedTable(Schema schema, String name) {
        super(schema, schema.getDatabase().allocateObjectId(), name, false, false);
    }

    void add(int position, CacheIndex index) {
        indexes.add(position, index);
    }

    @Override
    public Index getScanIndex(SessionLocal session) {
        return getIndexes().get(0);
    }

    @Override
    public ArrayList<Index> getIndexes() {
        return planned == null ? indexes : planned;
    }

    /** Each place of a statement has indexes of its own, which know it. */
    @Override
    public PlanItem getBestPlanItem(
            SessionLocal session,
            int @Nullable [] masks,
            TableFilter @Nullable [] filters,
            int filter,
            @Nullable SortOrder sortOrder,
            @Nullable AllColumnsForPlan allColumnsSet) {
        if (filters != null) {
            final ArrayList<Index> own = new ArrayList<>();
            indexes.forEach(each -> own.add(((CacheIndex) each).at(filters[filter], allColumnsSet)));
            planned = own;
        }
        try {
            return super.getBestPlanItem(session, masks, filters, filter, sortOrder, allColumnsSet);
        } finally {
            planned = null;
        }
    }

    /** Only NATURAL JOIN asks whether a column exists: hidden ones join nothing. */
    @Override
    public @Nullable Column getColumn(String columnName, boolean ifExists) {
        final Column found = super.getColumn(columnName, ifExists);
        return found == null || ifExists && !found.getVisible() ? null : found;
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

    /** Views register themselves before they are refused, and would keep the table from being dropped. */
    @Override
    public void addDependentView(TableView view) {}

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
