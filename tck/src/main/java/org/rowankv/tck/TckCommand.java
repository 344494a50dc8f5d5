package org.rowankv.tck;

import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code rowan tck}: runs the official TCK of JSR-107 1.1.1 against the embedded form. The last line has the totals; the
 * exit code is 0 only when nothing failed.
 */
@Command(
        name = "rowan tck",
        mixinStandardHelpOptions = true,
        description = "Runs the official JSR-107 TCK 1.1.1 against servers inside this JVM.")
public final class TckCommand implements Callable<Integer> {
    @Option(
            names = "--servers",
            defaultValue = "1",
            description = "Servers in the JVM, and replicas of each object (default: ${DEFAULT-VALUE}).")
    private int servers;

    @Option(names = "--only", description = "Runs the test classes alone whose names contain this.")
    private String only = "";

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new TckCommand()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        final PrintStream out = System.out;
        final TckTally tally = new TckRun(servers, only).run();
        tally.problems().forEach(out::println);
        tally.skippedNames().forEach(name -> out.println("skipped: " + name));
        out.println(tally.line());
        out.flush();
        return tally.isClean() ? 0 : 1;
    }
}
