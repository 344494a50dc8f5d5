package org.rowankv.jdbc.shell;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;
import org.rowankv.jdbc.RowanDriver;
import org.rowankv.runtime.SystemClock;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan sql}: runs statements on the caches of a store. */
@Command(
        name = "sql",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Reads and changes caches by SQL. Without -e, statements are read from the standard input, each up to a"
                    + " semicolon at the end of a line.",
            "Exit code 1: a statement failed."
        })
public final class SqlCommand implements Callable<Integer> {
    @Option(
            names = "--url",
            required = true,
            description = "jdbc:rowan:embedded?dir=DIR, jdbc:rowan://HOST:PORT/, or jdbc:rowan:NAME")
    private String url = "";

    @Option(names = "-e", description = "a statement to run; may be repeated")
    private List<String> statements = new ArrayList<>();

    @Option(names = "--format", description = "of rows: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})")
    private RowPrinter.Form format = RowPrinter.Form.TABLE;

    @Option(names = "--timing", description = "print how long each statement took")
    private boolean timing;

    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    public static void main(String[] args) {
        System.setProperty("slf4j.internal.verbosity", "ERROR"); // no logger is no fault here
        System.exit(new CommandLine(new SqlCommand())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute(args));
    }

    @Override
    public Integer call() throws IOException {
        final String whole = url.startsWith("jdbc:") ? url : "jdbc:" + url;
        try (Connection connection = new RowanDriver().connect(whole, new Properties())) {
            if (connection == null) {
                System.err.println("sql: --url begins with jdbc:rowan:");
                return 2;
            }
            return statements.isEmpty() ? runInput(connection) : runAll(connection);
        } catch (SQLException e) {
            System.err.println("sql: " + e.getMessage());
            return 1;
        }
    }

    private int runAll(Connection connection) {
        for (String statement : statements) {
            if (!run(connection, statement)) {
                return 1;
            }
        }
        return 0;
    }

    private int runInput(Connection connection) throws IOException {
        final boolean isTerminal = System.console() != null;
        final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        final StringBuilder text = new StringBuilder();
        boolean failed = false;
        while (true) {
            if (isTerminal) {
                out.print(text.isEmpty() ? "sql> " : "...> ");
                out.flush();
            }
            final String line = in.readLine();
            if (line == null) {
                break;
            }
            text.append(line).append('\n');
            if (line.stripTrailing().endsWith(";")) {
                failed |= !run(connection, text.toString());
                text.setLength(0);
            }
        }
        if (!text.toString().isBlank()) {
            failed |= !run(connection, text.toString());
        }
        return failed ? 1 : 0;
    }

    /** Whether the statement succeeded. */
    private boolean run(Connection connection, String sql) {
        final long startNs = SystemClock.INSTANCE.nanoTime();
        try (Statement statement = connection.createStatement()) {
            if (statement.execute(sql)) {
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
            System.err.println("sql: " + e.getMessage() + " [" + e.getSQLState() + ']');
            return false;
        } finally {
            if (timing) {
                out.printf("%.3f ms%n", (SystemClock.INSTANCE.nanoTime() - startNs) / 1e6);
            }
        }
    }
}
