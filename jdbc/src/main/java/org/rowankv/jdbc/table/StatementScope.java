package org.rowankv.jdbc.table;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.h2.api.ErrorCode;
import org.h2.message.DbException;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one statement's run that another writer changed between their read and their write. The statement runs
 * again for these alone, so that its conditions are evaluated on what is there. Used by the thread that runs a statement
 * of the connection, but for {@link #cancel}.
 */
public final class StatementScope {
    private Set<ByteBuffer> lost = new HashSet<>();
    private Set<ByteBuffer> again = Set.of();
    private boolean isActive;
    private volatile @Nullable Object running;
    private volatile @Nullable Object cancelled;
    private int changes;
    private long dataId = Long.MAX_VALUE;
    private long gone;

    /**
     * Begins a statement.
     *
     * @param statement for {@link #cancel}
     * @param newDataId greater than those of earlier statements: what these have read is not used again
     * @param canRunAgain whether it can be run again for rows that it has lost
     */
    public void begin(Object statement, long newDataId, boolean canRunAgain) {
        dataId = newDataId;
        cancelled = null;
        running = statement;
        isActive = canRunAgain;
        changes = 0;
        gone = 0;
        lost = new HashSet<>();
        again = Set.of();
    }

    /** Cancels the statement, if it runs or its rows are read; for any thread. */
    public void cancel(Object statement) {
        if (running == statement) {
            cancelled = statement;
        }
    }

    /** Ends the statement. */
    public void end() {
        isActive = false;
        lost = new HashSet<>();
        again = Set.of();
    }

    /** Whether rows are left for another run. */
    public boolean hasLost() {
        return !lost.isEmpty();
    }

    /** Whether only one statement has changed rows, so that another run changes no row twice. */
    public boolean canRunAgain() {
        return changes == 1;
    }

    /** Begins another run for the rows that were lost, and returns how many the last run has counted without changing them. */
    public long restart() {
        final long counted = lost.size() + gone;
        again = lost;
        lost = new HashSet<>();
        changes = 0;
        gone = 0;
        return counted;
    }

    /** Rows that the last run has counted although they were removed meanwhile. */
    public long gone() {
        return gone;
    }

    // --- for tables ---

    /** Throws if the statement was cancelled. H2 itself looks only where rows match. */
    void checkCancelled() {
        if (cancelled != null) {
            cancelled = null;
            throw DbException.get(ErrorCode.STATEMENT_WAS_CANCELED);
        }
    }

    long dataId() {
        return dataId;
    }

    /** Notes that a statement begins to change rows. */
    void changing() {
        changes++;
    }

    /** Whether the row may be changed in this run. */
    boolean admits(byte[] key) {
        return again.isEmpty() || again.contains(ByteBuffer.wrap(key));
    }

    /** Notes a row for another run; false if this statement cannot run again, since others ran with it. */
    boolean lose(byte[] key) {
        return isActive && changes == 1 && lost.add(ByteBuffer.wrap(key));
    }

    void countGone() {
        gone++;
    }
}
