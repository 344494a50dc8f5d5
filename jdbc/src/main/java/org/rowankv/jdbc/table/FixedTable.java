package org.rowankv.jdbc.table;

import org.h2.engine.SessionLocal;
import org.h2.message.DbException;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.h2.table.TableType;

/** A table of H2 whose definition does not change, without triggers for rows, whose rows only a scan counts. */
abstract class FixedTable extends Table {
    FixedTable(Schema schema, String name) {
        super(schema, schema.getDatabase().allocateObjectId(), name, false, false);
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
