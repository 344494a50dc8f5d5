package org.rowankv.jdbc;

import java.lang.reflect.Method;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.h2.value.Value;
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

    /** What may lose a row, and run again for it. */
    private static final Pattern CHANGE_BY_CONDITION =
            Pattern.compile("^\\s*(?:UPDATE|DELETE)\\s", Pattern.CASE_INSENSITIVE);

    /** One run of a statement. */
    private interface Run {
        @Nullable
        Object run() throws Throwable;
    }

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

    private String textOf(Object entry) {
        return entry instanceof String sql ? sql : preparedSql;
    }

    private static @Nullable Object wrapped(@Nullable Object result, Object proxy) {
        return result instanceof ResultSet rows ? ResultSetHandler.wrap(rows, (Statement) proxy) : result;
    }

    /**
     * Rows that a prepared statement changes are written together, and each entry has its outcome. Other entries that may lose
     * rows to another writer run one by one.
     */
    private @Nullable Object batch(Method method, @Nullable Object[] arguments) throws Throwable {
        count = NO_COUNT;
        executions.begin(this, preparedSql, false);
        final boolean isTogether = CHANGE_OF_ROWS.matcher(preparedSql).find()
                && Executions.isSingle(preparedSql)
                && !Executions.hasQuery(preparedSql);
        if (isTogether) {
            return together(method, arguments, Batches.parameters(statement));
        }
        final List<?> entries = preparedSql.isEmpty()
                ? Batches.texts(statement)
                : CHANGE_BY_CONDITION.matcher(preparedSql).find() ? Batches.parameters(statement) : List.of();
        return entries.isEmpty() ? forward(method, arguments) : oneByOne(method, arguments, entries);
    }

    private Object together(Method method, @Nullable Object[] arguments, List<Value[]> entries) throws Throwable {
        scope.beginBatch(entries);
        Object returned = null;
        BatchUpdateException failure = null;
        final Map<Integer, SQLException> failed;
        try {
            returned = forward(method, arguments);
        } catch (BatchUpdateException e) {
            failure = e;
        } finally {
            failed = scope.endBatch();
        }
        final long[] counts = failure == null ? Batches.counts(returned) : failure.getLargeUpdateCounts();
        for (Map.Entry<Integer, StatementScope.Deferral> each :
                scope.deferrals().entrySet()) {
            final int entry = each.getKey();
            if (!failed.containsKey(entry) && counts[entry] >= 0) {
                counts[entry] -= each.getValue().unchanged();
                if (each.getValue().hasRows()) {
                    scope.beginAgain(each.getValue());
                    run(method, arguments, entries.get(entry), entry, counts, failed);
                }
            }
        }
        return Batches.result(method, counts, failure, failed);
    }

    private Object oneByOne(Method method, @Nullable Object[] arguments, List<?> entries) throws Throwable {
        requireOpen();
        final long[] counts = new long[entries.size()];
        final Map<Integer, SQLException> failed = new TreeMap<>();
        for (int i = 0; i < counts.length; i++) {
            final Object entry = entries.get(i);
            executions.begin(this, textOf(entry), true);
            run(method, arguments, entry, i, counts, failed);
        }
        return Batches.result(method, counts, null, failed);
    }

    /** Runs an entry of a batch alone, and adds what it has counted. */
    private void run(
            Method method,
            @Nullable Object[] arguments,
            Object entry,
            int number,
            long[] counts,
            Map<Integer, SQLException> failed)
            throws Throwable {
        final Run alone = () -> {
            Batches.only(statement, entry);
            return Batches.counts(forward(method, arguments))[0];
        };
        try {
            Executions.requireEffect(textOf(entry));
            counts[number] += untilNoneIsLost(alone, countOf(alone.run()));
        } catch (SQLException e) {
            failed.put(number, Batches.reasonOf(e));
        } finally {
            scope.end();
        }
    }

    private @Nullable Object change(Method method, @Nullable Object[] arguments) throws Throwable {
        count = NO_COUNT;
        Executions.requireEffect(sqlOf(arguments));
        executions.begin(this, sqlOf(arguments), true);
        try {
            final Run run = () -> forward(method, arguments);
            final Object result = run.run();
            if (Boolean.TRUE.equals(result)) {
                return result; // rows
            }
            final long counted = untilNoneIsLost(run, countOf(result));
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

    /** Runs a change again while it loses rows, and returns how many it has changed. */
    private long untilNoneIsLost(Run run, long countedFirst) throws Throwable {
        long counted = countedFirst;
        while (scope.hasLost()) {
            if (!scope.canRunAgain()) {
                throw new SQLTransientException(
                        "rows were changed by another writer during several statements in one text; run them one by one",
                        "40001");
            }
            counted -= scope.restart();
            counted += countOf(run.run());
        }
        return counted - scope.gone();
    }

    private long countOf(@Nullable Object result) throws SQLException {
        return result instanceof Number number ? number.longValue() : statement.getLargeUpdateCount();
    }
}
