package org.rowankv.jdbc.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.jline.terminal.Terminal;
import org.jline.terminal.impl.ExternalTerminal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a person types, Control-C included. */
final class SqlTerminalTest {
    private static final int CONTROL_C = 3;
    /** Looks for what is to be printed, until the test gives up. */
    private static final int PATIENCE = 600;

    private static final String ENDLESS = "SELECT count(*) FROM big a, big b, big c WHERE a._value + b._value = -1;";

    @TempDir
    Path directory;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    private void awaitPrinted(String text) {
        for (int i = 0;
                i < PATIENCE && !printed.toString(StandardCharsets.UTF_8).contains(text);
                i++) {
            LockSupport.parkNanos(10_000_000);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8)).contains(text);
    }

    private static void type(PipedOutputStream keys, String text) throws IOException {
        keys.write(text.getBytes(StandardCharsets.UTF_8));
        keys.flush();
    }

    private static void fill(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(
                    "CREATE TABLE big(_KEY INT, _VALUE BIGINT NOT NULL) AS SELECT x, x FROM system_range(1, 6000)");
        }
    }

    @Test
    void shouldCancelTheStatementAndGoOn() throws Exception {
        final Path history = directory.resolve("history");
        final ExecutorService threads = Executors.newSingleThreadExecutor();
        try (Connection connection =
                        DriverManager.getConnection("jdbc:rowan:embedded?servers=1&capacity=32m&name=terminal");
                PipedOutputStream keys = new PipedOutputStream();
                PipedInputStream in = new PipedInputStream(keys);
                PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
                Terminal terminal = new ExternalTerminal("test", "dumb", in, printed, StandardCharsets.UTF_8);
                StatementRunner runner =
                        new StatementRunner(connection, RowPrinter.Form.TABLE, false, true, out, out)) {
            fill(connection);
            final Future<?> dialogue = threads.submit(() -> new SqlTerminal(terminal, history, runner).run());
            type(keys, "describe big\n");
            awaitPrinted("BIGINT");
            type(keys, "SELECT 40\n");
            type(keys, " + 2 AS n;\n");
            awaitPrinted("42");
            type(keys, ENDLESS + '\n');
            awaitPrinted("entries read");
            keys.write(CONTROL_C);
            keys.flush();
            awaitPrinted("57014");
            type(keys, "SELECT 'still' || ' here';\n");
            awaitPrinted("still here");
            type(keys, "quit\n");
            dialogue.get();
        } finally {
            threads.shutdownNow();
        }
        assertThat(Files.readString(history)).contains(ENDLESS, "describe big");
    }
}
