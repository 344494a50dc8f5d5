package org.rowankv.bench.report;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A fresh child JVM for one measurement: same Java, same class path. */
public final class MeasuringJvm {
    private final Class<?> main;
    private final String heap;

    /** @param heap the JVM's heap-size option */
    public MeasuringJvm(Class<?> main, String heap) {
        this.main = main;
        this.heap = heap;
    }

    /** Runs it to completion; returns the lines of its standard output. Its error stream goes to this process's. */
    public List<String> run(String... arguments) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add(heap);
        command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        final Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        final List<String> lines = new ArrayList<>();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            output.lines().forEach(lines::add);
        }
        if (process.waitFor() != 0) {
            throw new IOException(
                    main.getSimpleName() + " " + List.of(arguments) + " ended with " + process.exitValue());
        }
        return lines;
    }

    /** Deletes a directory recursively, if it exists. */
    public static void delete(Path directory) throws IOException {
        if (Files.exists(directory)) {
            try (Stream<Path> all = Files.walk(directory)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }
}
