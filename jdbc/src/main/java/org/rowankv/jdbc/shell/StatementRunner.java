package org.rowankv.jdbc.shell;

import java.io.PrintStream;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.rowankv.jdbc.EntriesRead;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.concurrent.DetachedThread;

/** Runs statements and prints what they return. Used by one thread, but for {@link #cancel}. */
final class StatementRunner implements AutoCloseable {
    /** Its place in a message is where the next line begins. */
    private static final String REWRITE = "\r";

    private static final long PROGRESS_MS = 1_000;
    private static final Pattern TABLES =
            Pattern.compile("^\\s*(?:show\\s+)?tables\\s*;?\\s*$", Pattern.CASE_INSENSITIVE);
    private static final Pattern DESCRIBE =
            Pattern.compile("^\\s*desc(?:ribe)?\\s+\"?([^\";]+?)\"?\\s*;?\\s*$", Pattern.CASE_INSENSITIVE);

    private final Connection connection;
    private final RowPrinter.Form format;
    private final boolean timing;
    private final PrintStream out;
    private final PrintStream err;
    private final @Nullable ScheduledThreadPoolExecutor progress;
    private volatile @Nullable Statement running;
    private volatile long startedNs;
    private volatile boolean isShown;

    /** @param withProgress whether long scans show on {@code err} how far they are */
    StatementRunner(
            Connection connection,
            RowPrinter.Form format,
            boolean timing,
            boolean withProgress,
            PrintStream out,
            PrintStream err)
            throws SQLException {
        this.connection = connection;
        this.format = format;
        this.timing = timing;
        this.out = out;
        this.err = err;
        if (!withProgress) {
            this.progress = null;
            return;
        }
        final EntriesRead scans = connection.unwrap(EntriesRead.class);
        this.progress = new ScheduledThreadPoolExecutor(1, task -> DetachedThread.of(task, "rowan-sql-progress"));
        final var unused = progress.scheduleAtFixedRate(
                () -> showProgress(scans), PROGRESS_MS, PROGRESS_MS, TimeUnit.MILLISECONDS);
    }

    private void showProgress(EntriesRead scans) {
        if (running != null && SystemClock.INSTANCE.nanoTime() - startedNs > PROGRESS_MS * 1_000_000) {
            isShown = true;
            err.printf(Locale.ROOT, REWRITE + "%,d entries read ", scans.entriesRead());
            err.flush();
        }
    }

    /** What the shell's own words stand for. */
    private static String statementOf(String text) {
        if (TABLES.matcher(text).matches()) {
            return "SELECT table_name AS \"table\" FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = 'CACHES' ORDER BY 1";
        }
        final Matcher describe = DESCRIBE.matcher(text);
        if (describe.matches()) {
            return "SELECT column_name AS \"column\", data_type AS \"type\", is_nullable AS \"nullable\""
                    + " FROM INFORMATION_SCHEMA.COLUMNS WHERE table_schema = 'CACHES' AND lower(table_name) = lower('"
                    + describe.group(1).replace("'", "''") + "') ORDER BY ordinal_position";
        }
        return text;
    }

    /** Whether the statement succeeded. */
    boolean run(String text) {
        startedNs = SystemClock.INSTANCE.nanoTime();
        try (Statement statement = connection.createStatement()) {
            running = statement;
            if (statement.execute(statementOf(text))) {
                try (ResultSet rows = statement.getResultSet()) {
                    final long count = new RowPrinter(out, format).print(rows);
                    if (format == RowPrinter.Form.TABLE) {
                        out.println(count == 1 ? "1 row" : count + " rows");
                    }
                }
            } else if (statement.getLargeUpdateCount() >= 0) {
                out.println(statement.getLargeUpdateCount() + " changed");
            }
            return true;
        } catch (SQLException e) {
            err.println("sql: " + e.getMessage() + " [" + e.getSQLState() + ']');
            return false;
        } finally {
            running = null;
            if (isShown) {
                isShown = false;
                err.println();
            }
            if (timing) {
                out.printf(Locale.ROOT, "%.3f ms%n", (SystemClock.INSTANCE.nanoTime() - startedNs) / 1e6);
            }
        }
    }

    /** Cancels the statement that runs, if one does; for any thread. */
    void cancel() {
        final Statement statement = running;
        if (statement != null) {
            try {
                statement.cancel();
            } catch (SQLException e) {
                err.println("sql: " + e.getMessage());
            }
        }
    }

    @Override
    public void close() {
        if (progress != null) {
            progress.shutdownNow();
        }
    }
}
