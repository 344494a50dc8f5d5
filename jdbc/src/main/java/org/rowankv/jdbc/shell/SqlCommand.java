package org.rowankv.jdbc.shell;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jspecify.annotations.Nullable;
import org.rowankv.jdbc.RowanDriver;
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
                    + " semicolon at the end of a line; also \"tables\" and \"describe NAME\". In a terminal, Control-C"
                    + " cancels the statement.",
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

    @Option(names = "--progress", description = "show how far long scans are, as in a terminal")
    private boolean progress;

    @Option(
            names = "--history",
            defaultValue = "${sys:user.home}/.rowan_sql_history",
            description = "file of a terminal's earlier lines (default: ${DEFAULT-VALUE})")
    private @Nullable Path history;

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
            final boolean isTerminal = System.console() != null;
            try (StatementRunner runner =
                    new StatementRunner(connection, format, timing, progress || isTerminal, out, System.err)) {
                if (!statements.isEmpty()) {
                    return runAll(runner);
                }
                return isTerminal && history != null ? talk(runner, history) : runInput(runner);
            }
        } catch (SQLException e) {
            System.err.println("sql: " + e.getMessage());
            return 1;
        }
    }

    private static int talk(StatementRunner runner, Path history) throws IOException {
        try (Terminal terminal = TerminalBuilder.builder().name("rowan sql").build()) {
            new SqlTerminal(terminal, history, runner).run();
        }
        return 0;
    }

    private int runAll(StatementRunner runner) {
        for (String statement : statements) {
            if (!runner.run(statement)) {
                return 1;
            }
        }
        return 0;
    }

    private static int runInput(StatementRunner runner) throws IOException {
        final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        final StringBuilder text = new StringBuilder();
        boolean failed = false;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            text.append(line).append('\n');
            if (line.stripTrailing().endsWith(";")) {
                failed |= !runner.run(text.toString());
                text.setLength(0);
            }
        }
        if (!text.toString().isBlank()) {
            failed |= !runner.run(text.toString());
        }
        return failed ? 1 : 0;
    }
}
