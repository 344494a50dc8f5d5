package org.rowankv.sim;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rowankv.runtime.Clock;

/**
 * Seeds with violations: those of runs on this machine, collected in a file below the working directory; and those kept
 * in the sources, which every build runs.
 */
public final class FoundSeeds {
    /** The simulators, by their commands. */
    public static final String SIM = "sim";

    public static final String SIM_CLUSTER = "sim --cluster";

    private static final Path FILE = Path.of("target", "sim-found-seeds.txt");
    private static final String KEPT = "found-seeds.txt";
    private static final Pattern LINE = Pattern.compile("(sim|sim --cluster) (\\d+) (\\d{4}-\\d{2}-\\d{2}) (.+)");

    private FoundSeeds() {}

    /** Appends the seed to the file below the working directory; returns the command that repeats it. */
    static String keep(SeedReport<?> report) {
        final String violation = String.valueOf(report.violation());
        final String firstLine = violation.lines().findFirst().orElse("");
        try {
            Files.createDirectories(FILE.toAbsolutePath().getParent());
            Files.writeString(
                    FILE,
                    report.command() + "  # " + firstLine + System.lineSeparator(),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot keep the seed of \"" + report.command() + "\" in " + FILE, e);
        }
        return report.command();
    }

    /**
     * Runs the seeds that the sources keep for a simulator, and prints each that has a violation.
     *
     * @return number of violations
     */
    public static <R extends SeedReport<R>> int runKept(
            String simulator, LongFunction<R> runner, Clock clock, PrintStream out) {
        final List<Long> seeds = kept(simulator);
        int violations = 0;
        for (long seed : seeds) {
            for (R report : new SimRun<>(() -> runner, () -> seed, 1, 1, false, clock, out).run()) {
                out.println("sim: " + report.violation());
                violations++;
            }
        }
        out.println("sim: seeds=" + seeds.size() + " violations=" + violations);
        return violations;
    }

    /** The seeds of a simulator, from the sources. */
    static List<Long> kept(String simulator) {
        try (InputStream file = FoundSeeds.class.getResourceAsStream(KEPT)) {
            if (file == null) {
                throw new IllegalStateException("there is no file " + KEPT);
            }
            return parse(simulator, new String(file.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(KEPT + " cannot be read", e);
        }
    }

    static List<Long> parse(String simulator, String text) {
        final List<Long> seeds = new ArrayList<>();
        for (String line : text.lines().toList()) {
            if (!line.isBlank() && !line.startsWith("#")) {
                final Matcher parts = LINE.matcher(line);
                if (!parts.matches()) {
                    throw new IllegalArgumentException(
                            "'" + line + "' is not: simulator, seed, date, and what it found");
                }
                if (parts.group(1).equals(simulator)) {
                    seeds.add(Long.parseLong(parts.group(2)));
                }
            }
        }
        return seeds;
    }
}
