package org.rowankv.samples;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A command run to completion in its own process, as {@code ./rowan} runs it.
 *
 * @param lines its complete output
 */
public record CommandRun(int exitCode, List<String> lines) {
    public static CommandRun of(Class<?> main, String... arguments) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        final String options = System.getProperty("rowan.process.options", "").trim();
        if (!options.isEmpty()) {
            command.addAll(1, List.of(options.split("\\s+")));
        }
        final Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        final List<String> lines = new ArrayList<>();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                System.out.println(line);
                lines.add(line);
            }
        }
        return new CommandRun(process.waitFor(), lines);
    }

    public String lastLine() {
        return lines.isEmpty() ? "" : lines.get(lines.size() - 1);
    }
}
