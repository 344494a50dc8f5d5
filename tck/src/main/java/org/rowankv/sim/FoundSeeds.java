package org.rowankv.sim;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Keeps the seeds that found something, one line each, in a file that later runs only append to. */
final class FoundSeeds {
    private static final Path FILE = Path.of("target", "sim-found-seeds.txt");

    private FoundSeeds() {}

    /** Appends what is needed to repeat the run, below the working directory; returns the command that repeats it. */
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
}
