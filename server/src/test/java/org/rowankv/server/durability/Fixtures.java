package org.rowankv.server.durability;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.AreaSettings;

/** Shared fixtures of the tests. */
public final class Fixtures {
    static final int SEGMENT_LENGTH = 64 << 10;
    static final int CAPACITY = 1 << 20;
    public static final int SHARDS = 16;

    private Fixtures() {}

    public static RandomSource random() {
        return new SplittableRandomSource(42);
    }

    public static AreaSettings fileSettings(Path file) {
        return new AreaSettings(file, CAPACITY, SEGMENT_LENGTH, 1, 5, SHARDS, Durability.PROCESS, 3, 2);
    }

    public static AreaSettings memorySettings() {
        return new AreaSettings(null, CAPACITY, SEGMENT_LENGTH, 1, 5, SHARDS, Durability.NONE);
    }

    /** Starts a test class in its own JVM, with readable output. */
    public static Process java(List<String> options, Class<?> main, String... arguments) throws IOException {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.add("-cp");
        command.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    /** Waits for a line of output. */
    public static void awaitLine(Process process, String line) throws IOException {
        final StringBuilder all = new StringBuilder();
        final InputStream output = process.getInputStream();
        while (all.indexOf(line + "\n") < 0) {
            final int c = output.read();
            if (c < 0) {
                throw new AssertionError("the child ended without '" + line + "': " + all);
            }
            all.append((char) c);
        }
    }

    public static String allOutput(Process process) throws IOException {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
}
