package org.rowankv.jdbc.table;

import java.nio.ByteBuffer;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.h2.api.ErrorCode;
import org.h2.message.DbException;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.OwnedCounter;

/**
 * The rows of one statement's run that another writer changed between their read and their write. The statement runs
 * again for these alone, so that its conditions are evaluated on what is there. Used by the thread that runs a statement
 * of the connection, but for {@link #cancel}.
 */
public final class StatementScope {
    private static final int NO_BATCH = -2;

    private Set<ByteBuffer> lost = new HashSet<>();
    private Set<ByteBuffer> again = Set.of();
    private String sql = "";
    private String upperSql = "";
    private boolean isActive;
    private volatile @Nullable Object running;
    private volatile @Nullable Object cancelled;
    private final OwnedCounter entriesRead = new OwnedCounter();

    private long run;
    private int changes;
    private long dataId = Long.MAX_VALUE;
    private long gone;
    /** The entry of the batch that runs, from 0; none: no batch. */
    private int batchEntry = NO_BATCH;

    private List<Value[]> batch = List.of();
    /** Keys of rows that entries of the batch have lost. Later entries leave these alone, or they would come first. */
    private final Set<ByteBuffer> deferred = new HashSet<>();

    private final Map<Integer, Deferral> deferrals = new TreeMap<>();
    private final Map<Integer, DbException> failed = new TreeMap<>();
    private final Set<Runnable> atEndOfBatch = new LinkedHashSet<>();

    /** What is left of an entry of a batch. */
    public static final class Deferral {
        private final Set<ByteBuffer> again = new HashSet<>();
        private long unchanged;

        private Deferral() {}

        /** Rows that the entry has counted without changing them. */
        public long unchanged() {
            return unchanged;
        }

        /** Whether the entry must run again, for some rows. */
        public boolean hasRows() {
            return !again.isEmpty();
        }
    }

    /**
     * Begins a statement.
     *
     * @param statement for {@link #cancel}
     * @param text of the statement
     * @param newDataId greater than those of earlier statements: what these have read is not used again
     * @param canRunAgain whether it can be run again for rows that it has lost
     */
    public void begin(Object statement, String text, long newDataId, boolean canRunAgain) {
        if (!text.equals(sql)) {
            sql = text;
            upperSql = text.toUpperCase(Locale.ROOT);
        }
        dataId = newDataId;
        run++;
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
        run++;
        changes = 0;
        gone = 0;
        return counted;
    }

    /** Rows that the last run has counted although they were removed meanwhile. */
    public long gone() {
        return gone;
    }

    /**
     * Begins a batch whose entries change rows, and do nothing else.
     *
     * @param entries the parameters of each
     */
    public void beginBatch(List<Value[]> entries) {
        batchEntry = -1;
        batch = entries;
        failed.clear();
        deferred.clear();
        deferrals.clear();
        atEndOfBatch.clear();
    }

    /** What is left of the entries of the batch that has ended, by number, from 0. */
    public Map<Integer, Deferral> deferrals() {
        return new TreeMap<>(deferrals);
    }

    /** Begins another run of an entry of a batch that has ended, for the rows that are left of it. */
    public void beginAgain(Deferral left) {
        isActive = true;
        changes = 0;
        gone = 0;
        lost = new HashSet<>();
        again = left.again;
        run++;
    }

    /** Writes the rows that are left, and returns what entries have failed, by number, from 0. */
    public Map<Integer, SQLException> endBatch() {
        try {
            List.copyOf(atEndOfBatch).forEach(Runnable::run);
        } finally {
            batchEntry = NO_BATCH;
            batch = List.of();
            atEndOfBatch.clear();
        }
        final Map<Integer, SQLException> all = new TreeMap<>();
        failed.forEach((entry, failure) -> all.put(entry, DbException.toSQLException(failure)));
        return all;
    }

    // --- for tables ---

    /** Whether the statement names that column; perhaps also if it has the letters elsewhere, or names in escapes. */
    boolean names(String column) {
        return upperSql.contains(column) || upperSql.contains("U&");
    }

    /** The parameters of the batch's entries that come next. */
    List<Value[]> entriesAhead() {
        return isInBatch() ? batch.subList(Math.min(batchEntry + 1, batch.size()), batch.size()) : List.of();
    }

    boolean isInBatch() {
        return batchEntry != NO_BATCH;
    }

    int batchEntry() {
        return batchEntry;
    }

    void whenBatchEnds(Runnable rest) {
        if (isInBatch()) {
            atEndOfBatch.add(rest);
        }
    }

    /** Notes that an entry of the batch has failed; without a batch, the statement fails. */
    void fail(int entry, DbException failure) {
        if (!isInBatch()) {
            throw failure;
        }
        failed.putIfAbsent(entry, failure);
    }

    /** Throws if the statement was cancelled. H2 itself looks only where rows match. */
    void checkCancelled() {
        if (cancelled != null) {
            cancelled = null;
            throw DbException.get(ErrorCode.STATEMENT_WAS_CANCELED);
        }
    }

    /** Entries that scans have read; for any thread. */
    public long entriesRead() {
        return entriesRead.get();
    }

    /** Notes entries that a scan has read. */
    void read(long entries) {
        entriesRead.add(entries);
    }

    long dataId() {
        return dataId;
    }

    /** Notes that a statement begins to change rows. */
    void changing() {
        changes++;
    }

    /** Notes that an entry of a batch begins. */
    void nextEntry() {
        if (isInBatch()) {
            batchEntry++;
        }
    }

    /** Of the statement's runs and those of others before: another number for each. */
    long run() {
        return run;
    }

    /** The keys of the rows that this run may change; empty: all. */
    Collection<byte[]> again() {
        return again.stream().map(ByteBuffer::array).toList();
    }

    /** Whether the row may be changed in this run. */
    boolean admits(byte[] key) {
        return isInBatch()
                ? !deferred.contains(ByteBuffer.wrap(key))
                : again.isEmpty() || again.contains(ByteBuffer.wrap(key));
    }

    /** Notes that this entry of the batch leaves out a row that it may want. */
    void leaveOut(byte[] key) {
        if (isInBatch()) {
            deferralOf(batchEntry).again.add(ByteBuffer.wrap(key));
        }
    }

    /** Notes that this entry of the batch leaves out all rows that others before it have lost. */
    void leaveOutDeferred() {
        if (isInBatch() && !deferred.isEmpty()) {
            deferralOf(batchEntry).again.addAll(deferred);
        }
    }

    private Deferral deferralOf(int entry) {
        return deferrals.computeIfAbsent(entry, none -> new Deferral());
    }

    /**
     * Notes a row for another run; false if this statement cannot run again, since others ran with it.
     *
     * @param entry of the batch whose write it was
     */
    boolean lose(byte[] key, int entry) {
        final ByteBuffer row = ByteBuffer.wrap(key);
        if (!isInBatch()) {
            return isActive && changes == 1 && lost.add(row);
        }
        deferred.add(row);
        final Deferral left = deferralOf(entry);
        left.again.add(row);
        left.unchanged++;
        return true;
    }

    /** Notes that a row which counts was removed by another writer. */
    void countGone(int entry) {
        if (isInBatch()) {
            deferralOf(entry).unchanged++;
        } else {
            gone++;
        }
    }
}
