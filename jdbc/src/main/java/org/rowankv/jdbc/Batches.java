package org.rowankv.jdbc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.h2.jdbc.JdbcPreparedStatement;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/** What becomes of the entries of a batch. Stateless. */
final class Batches {
    /** H2 does not show the entries of a batch, and reads the rows of each when it gets there. */
    private static final VarHandle ENTRIES;

    static {
        try {
            ENTRIES = MethodHandles.privateLookupIn(JdbcPreparedStatement.class, MethodHandles.lookup())
                    .findVarHandle(JdbcPreparedStatement.class, "batchParameters", ArrayList.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private Batches() {}

    /** The parameters of the entries of a prepared statement's batch. */
    @SuppressWarnings("unchecked")
    static List<Value[]> entries(Statement statement) {
        final List<Value[]> entries =
                statement instanceof JdbcPreparedStatement prepared ? (List<Value[]>) ENTRIES.get(prepared) : null;
        return entries == null ? List.of() : entries;
    }

    /**
     * The failure of a batch.
     *
     * @param counts that H2 has returned, if it did
     * @param earlier what H2 has thrown instead
     * @param failed entries whose rows were not written
     */
    static BatchUpdateException failure(
            @Nullable Object counts, @Nullable BatchUpdateException earlier, Map<Integer, SQLException> failed) {
        final long[] all = earlier != null ? earlier.getLargeUpdateCounts() : longs(counts);
        failed.keySet().forEach(entry -> all[entry] = Statement.EXECUTE_FAILED);
        final SQLException first =
                earlier != null ? earlier : failed.values().iterator().next();
        final BatchUpdateException failure =
                new BatchUpdateException(first.getMessage(), first.getSQLState(), first.getErrorCode(), all, first);
        failed.values().forEach(failure::setNextException);
        return failure;
    }

    private static long[] longs(@Nullable Object counts) {
        if (counts instanceof int[] ints) {
            return Arrays.stream(ints).asLongStream().toArray();
        }
        return counts instanceof long[] longs ? longs.clone() : new long[0];
    }
}
