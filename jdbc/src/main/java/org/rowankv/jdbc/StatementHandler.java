package org.rowankv.jdbc;

import java.lang.reflect.Method;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.sql.Statement;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.rowankv.jdbc.table.StatementScope;

/**
 * A statement. Runs a change again for the rows that another writer has changed meanwhile, until it has changed or
 * passed over each of them.
 */
final class StatementHandler extends JdbcHandler {
    private static final long NO_COUNT = -1;
    private static final Pattern CHANGE_OF_ROWS = Pattern.compile(
            "^\\s*(?:INSERT\\s.*\\bVALUES\\b|UPDATE\\s|DELETE\\s)", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private final Statement statement;
    private final Connection connection;
    private final StatementScope scope;
    private final Executions executions;
    /** Of a prepared statement. */
    private final String preparedSql;

    /** The count of the last execution, if it is another than H2's. */
    private long count = NO_COUNT;

    private StatementHandler(Statement statement, Connection connection, Executions executions, String preparedSql) {
        super(statement);
        this.statement = statement;
        this.connection = connection;
        this.scope = executions.scope();
        this.executions = executions;
        this.preparedSql = preparedSql;
    }

    static <T extends Statement> T wrap(
            Class<T> type, T statement, Connection connection, Executions executions, String preparedSql) {
        return proxy(type, new StatementHandler(statement, connection, executions, preparedSql));
    }

    static boolean isClosed(Statement statement) {
        try {
            return statement.isClosed();
        } catch (SQLException e) {
            return true;
        }
    }

    @Override
    @Nullable
    Object handle(Object proxy, Method method, @Nullable Object[] arguments) throws Throwable {
        return switch (method.getName()) {
            case "getConnection" -> {
                requireOpen();
                yield connection;
            }
            case "isPoolable", "setPoolable" -> {
                requireOpen();
                yield forward(method, arguments);
            }
            case "execute", "executeUpdate", "executeLargeUpdate" -> change(method, arguments);
            case "executeBatch", "executeLargeBatch" -> batch(method, arguments);
            case "executeQuery" -> {
                count = NO_COUNT;
                executions.begin(this, sqlOf(arguments), false);
                yield wrapped(forward(method, arguments), proxy);
            }
            case "cancel" -> {
                final Object unused = forward(method, arguments);
                scope.cancel(this);
                yield null;
            }
            case "getResultSet", "getGeneratedKeys" -> wrapped(forward(method, arguments), proxy);
            case "getUpdateCount" -> {
                final Object found = forward(method, arguments);
                yield count == NO_COUNT ? found : (Object) (int) Math.min(count, Integer.MAX_VALUE);
            }
            case "getLargeUpdateCount" -> {
                final Object found = forward(method, arguments);
                yield count == NO_COUNT ? found : (Object) count;
            }
            case "getMoreResults" -> {
                count = NO_COUNT;
                yield forward(method, arguments);
            }
            default -> forward(method, arguments);
        };
    }

    private void requireOpen() throws SQLException {
        if (statement.isClosed()) {
            throw new SQLException("the statement is closed", "90007");
        }
    }

    private String sqlOf(@Nullable Object[] arguments) {
        return arguments.length > 0 && arguments[0] instanceof String sql ? sql : preparedSql;
    }

    private static @Nullable Object wrapped(@Nullable Object result, Object proxy) {
        return result instanceof ResultSet rows ? ResultSetHandler.wrap(rows, (Statement) proxy) : result;
    }

    /** Rows that a prepared statement changes are written together, and each entry has its outcome. */
    private @Nullable Object batch(Method method, @Nullable Object[] arguments) throws Throwable {
        count = NO_COUNT;
        executions.begin(this, preparedSql, false);
        if (!CHANGE_OF_ROWS.matcher(preparedSql).find() || Executions.hasQuery(preparedSql)) {
            return forward(method, arguments);
        }
        scope.beginBatch(Batches.entries(statement));
        Object counts = null;
        BatchUpdateException failure = null;
        try {
            counts = forward(method, arguments);
        } catch (BatchUpdateException e) {
            failure = e;
        } finally {
            final Map<Integer, SQLException> failed = scope.endBatch();
            if (!failed.isEmpty()) {
                failure = Batches.failure(counts, failure, failed);
            }
        }
        if (failure != null) {
            throw failure;
        }
        return counts;
    }

    private @Nullable Object change(Method method, @Nullable Object[] arguments) throws Throwable {
        count = NO_COUNT;
        executions.begin(this, sqlOf(arguments), true);
        try {
            Object result = forward(method, arguments);
            if (Boolean.TRUE.equals(result)) {
                return result; // rows
            }
            long counted = countOf(result);
            while (scope.hasLost()) {
                if (!scope.canRunAgain()) {
                    throw new SQLTransientException(
                            "rows were changed by another writer during several statements in one text; run them one by one",
                            "40001");
                }
                counted -= scope.restart();
                result = forward(method, arguments);
                counted += countOf(result);
            }
            counted -= scope.gone();
            if (result instanceof Integer) {
                return (int) Math.min(counted, Integer.MAX_VALUE);
            }
            if (result instanceof Long) {
                return counted;
            }
            count = counted;
            return result;
        } finally {
            scope.end();
        }
    }

    private long countOf(@Nullable Object result) throws SQLException {
        return result instanceof Number number ? number.longValue() : statement.getLargeUpdateCount();
    }
}
