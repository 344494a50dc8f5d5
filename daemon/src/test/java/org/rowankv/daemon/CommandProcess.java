package org.rowankv.daemon;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.AbstractStringAssert;
import org.assertj.core.api.Assertions;

/** A command run in its own JVM, as a user runs it. */
public record CommandProcess(int exitCode, List<String> lines) {
    private static final int SHOWN = 60;

    public static CommandProcess run(Class<?> command, String... arguments) throws IOException, InterruptedException {
        final List<String> words =
                TestJvm.command("-ea", "-cp", System.getProperty("java.class.path"), command.getName());
        words.addAll(List.of(arguments));
        final Process process =
                new ProcessBuilder(words).redirectErrorStream(true).start();
        final List<String> lines = new ArrayList<>();
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                lines.add(line);
            }
        }
        final int exitCode = process.waitFor();
        if (exitCode != 0) {
            lines.forEach(System.out::println);
        }
        return new CommandProcess(exitCode, lines);
    }

    /** An assertion about the last line; on failure it shows the end of the earlier output. */
    public AbstractStringAssert<?> assertThatLastLine() {
        final List<String> end = lines.subList(Math.max(0, lines.size() - SHOWN), lines.size());
        return Assertions.assertThat(lastLine()).as(String.join("\n", end).replace("%", "%%"));
    }

    public String lastLine() {
        return lines.isEmpty() ? "" : lines.get(lines.size() - 1);
    }
}
