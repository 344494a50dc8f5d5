package org.rowankv.jdbc;

import java.lang.reflect.Method;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** Rows, whose statement is the one that the application has. */
final class ResultSetHandler extends JdbcHandler {
    private final ResultSet rows;
    private final Statement statement;

    private ResultSetHandler(ResultSet rows, Statement statement) {
        super(rows);
        this.rows = rows;
        this.statement = statement;
    }

    static ResultSet wrap(ResultSet rows, Statement statement) {
        return proxy(ResultSet.class, new ResultSetHandler(rows, statement));
    }

    @Override
    @Nullable
    Object handle(Object proxy, Method method, @Nullable Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "getStatement" -> {
                requireOpen();
                return statement;
            }
            case "rowInserted", "rowUpdated", "rowDeleted" -> requireOpen();
            default -> {}
        }
        return forward(method, arguments);
    }

    private void requireOpen() throws SQLException {
        if (rows.isClosed()) {
            throw new SQLException("the rows are closed", "90007");
        }
    }
}
