package org.rowankv.jdbc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Method;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.h2.jdbc.JdbcPreparedStatement;
import org.h2.jdbc.JdbcStatement;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/** What becomes of the entries of a batch. Stateless. */
final class Batches {
    /** H2 does not show the entries of a batch, and reads the rows of each when it gets there. */
    private static final VarHandle PARAMETERS = field(JdbcPreparedStatement.class, "batchParameters");

    private static final VarHandle TEXTS = field(JdbcStatement.class, "batchCommands");

    private Batches() {}

    private static VarHandle field(Class<?> type, String name) {
        try {
            return MethodHandles.privateLookupIn(type, MethodHandles.lookup())
                    .findVarHandle(type, name, ArrayList.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The parameters of the entries of a prepared statement's batch. */
    @SuppressWarnings("unchecked")
    static List<Value[]> parameters(Statement statement) {
        return statement instanceof JdbcPreparedStatement prepared
                ? listOf((ArrayList<Value[]>) PARAMETERS.get(prepared))
                : List.of();
    }

    /** The texts of the entries of another statement's batch. */
    @SuppressWarnings("unchecked")
    static List<String> texts(Statement statement) {
        return statement instanceof JdbcStatement any ? listOf((ArrayList<String>) TEXTS.get(any)) : List.of();
    }

    private static <T> List<T> listOf(@Nullable List<T> entries) {
        return entries == null ? List.of() : entries;
    }

    /** Makes an entry the only one of the statement's batch. */
    static void only(Statement statement, Object entry) {
        final List<Object> entries = new ArrayList<>(List.of(entry));
        if (statement instanceof JdbcPreparedStatement prepared) {
            PARAMETERS.set(prepared, entries);
        } else {
            TEXTS.set((JdbcStatement) statement, entries);
        }
    }

    /** The counts that a batch has returned. */
    static long[] counts(@Nullable Object result) {
        if (result instanceof int[] ints) {
            return Arrays.stream(ints).asLongStream().toArray();
        }
        return result instanceof long[] longs ? longs.clone() : new long[0];
    }

    /**
     * What a batch returns.
     *
     * @param earlier what H2 has thrown
     * @param failed entries whose rows were not written
     */
    static Object result(
            Method method, long[] counts, @Nullable BatchUpdateException earlier, Map<Integer, SQLException> failed)
            throws BatchUpdateException {
        if (earlier != null || !failed.isEmpty()) {
            throw failure(counts, earlier, failed);
        }
        return method.getReturnType() == long[].class
                ? counts
                : Arrays.stream(counts)
                        .mapToInt(each -> each > Integer.MAX_VALUE ? Statement.SUCCESS_NO_INFO : (int) each)
                        .toArray();
    }

    private static BatchUpdateException failure(
            long[] counts, @Nullable BatchUpdateException earlier, Map<Integer, SQLException> failed) {
        failed.keySet().forEach(entry -> counts[entry] = Statement.EXECUTE_FAILED);
        final SQLException first =
                earlier != null ? earlier : failed.values().iterator().next();
        final BatchUpdateException failure =
                new BatchUpdateException(first.getMessage(), first.getSQLState(), first.getErrorCode(), counts, first);
        if (earlier != null && earlier.getNextException() != null) {
            failure.setNextException(earlier.getNextException());
        }
        failed.values().forEach(failure::setNextException);
        return failure;
    }

    /** Why an entry has failed that was the only one. */
    static SQLException reasonOf(SQLException failure) {
        return failure instanceof BatchUpdateException && failure.getNextException() != null
                ? failure.getNextException()
                : failure;
    }
}
