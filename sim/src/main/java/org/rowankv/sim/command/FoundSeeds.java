package org.rowankv.sim.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rowankv.sim.SeedReport;

/**
 * Seeds with violations: those of runs on this machine, collected in a file below the working directory; and those kept
 * in the sources, which every build runs.
 */
final class FoundSeeds {
    private static final Path FILE = Path.of("target", "sim-found-seeds.txt");
    private static final String KEPT = "found-seeds.txt";
    private static final Pattern LINE = Pattern.compile("(--[a-z]+(?: [a-z]+)?) (\\d+) (\\d{4}-\\d{2}-\\d{2}) (.+)");

    private FoundSeeds() {}

    /** Appends the seed to the file below the working directory; returns the command that repeats it. */
    static String keep(String command, SeedReport report) {
        final String violation = String.valueOf(report.violation());
        final String firstLine = violation.lines().findFirst().orElse("");
        try {
            Files.createDirectories(FILE.toAbsolutePath().getParent());
            Files.writeString(
                    FILE,
                    command + "  # " + firstLine + System.lineSeparator(),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot keep the seed of \"" + command + "\" in " + FILE, e);
        }
        return command;
    }

    /** The seeds of each form, from the sources. */
    static Map<Form, List<Long>> kept() {
        try (InputStream file = FoundSeeds.class.getResourceAsStream(KEPT)) {
            if (file == null) {
                throw new IllegalStateException("there is no file " + KEPT);
            }
            return parse(new String(file.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(KEPT + " cannot be read", e);
        }
    }

    static Map<Form, List<Long>> parse(String text) {
        final Map<Form, List<Long>> seeds = new EnumMap<>(Form.class);
        for (String line : text.lines().toList()) {
            if (!line.isBlank() && !line.startsWith("#")) {
                final Matcher parts = LINE.matcher(line);
                if (!parts.matches()) {
                    throw new IllegalArgumentException(
                            "'" + line + "' is not: options of a form, seed, date, and what it found");
                }
                seeds.computeIfAbsent(Form.of(parts.group(1)), unused -> new ArrayList<>())
                        .add(Long.parseLong(parts.group(2)));
            }
        }
        return seeds;
    }
}
