package org.rowankv.jdbc.shell;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;

/**
 * The dialogue with a person: lines that can be edited, and found again in a file. Control-C cancels the statement that
 * runs, else what was typed. Used by one thread.
 */
final class SqlTerminal {
    private static final Set<String> ENDS = Set.of("quit", "exit", "quit;", "exit;");
    private static final String HELP = "A statement ends with a semicolon. Also: tables, describe NAME, help, quit.";

    private final Terminal terminal;
    private final LineReader lines;
    private final StatementRunner runner;

    SqlTerminal(Terminal terminal, Path history, StatementRunner runner) {
        this.terminal = terminal;
        this.runner = runner;
        this.lines = LineReaderBuilder.builder()
                .terminal(terminal)
                .variable(LineReader.HISTORY_FILE, history)
                .variable(LineReader.SECONDARY_PROMPT_PATTERN, "")
                .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
                .build();
    }

    /** Runs what is typed until it ends. */
    void run() {
        terminal.handle(Terminal.Signal.INT, signal -> runner.cancel());
        final StringBuilder text = new StringBuilder();
        while (true) {
            final String line;
            try {
                line = lines.readLine(text.isEmpty() ? "sql> " : "...> ");
            } catch (UserInterruptException e) {
                text.setLength(0);
                continue;
            } catch (EndOfFileException e) {
                return;
            }
            final String word = line.strip().toLowerCase(Locale.ROOT);
            if (text.isEmpty() && ENDS.contains(word)) {
                return;
            }
            if (text.isEmpty() && word.startsWith("help")) {
                terminal.writer().println(HELP);
            } else if (text.isEmpty() && word.matches("tables|desc(ribe)? .*") || word.endsWith(";")) {
                final boolean unused = runner.run(text.append(line).toString());
                text.setLength(0);
            } else if (!word.isEmpty()) {
                text.append(line).append('\n');
            }
        }
    }
}
