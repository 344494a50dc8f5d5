package org.rowankv.samples.dropin;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A Java program run to its end, with its whole output in a file. Thread-safe. */
final class JavaProcess {
    private JavaProcess() {}

    /**
     * Runs it.
     *
     * @param log receives the output
     * @param beginning of the line that is the result
     * @return the last such line; empty if there is none
     */
    static String run(List<String> classpath, Path log, String beginning, List<String> arguments)
            throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        final String options = System.getProperty("rowan.process.options", "").trim();
        if (!options.isEmpty()) {
            command.addAll(List.of(options.split("\\s+")));
        }
        command.add("-cp");
        command.add(String.join(File.pathSeparator, classpath));
        command.addAll(arguments);
        final Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        final List<String> lines = new ArrayList<>();
        String result = "";
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                lines.add(line);
                if (line.startsWith(beginning)) {
                    result = line;
                }
            }
        } finally {
            process.destroy();
        }
        Files.write(log, lines);
        final int code = process.waitFor();
        return code == 0 ? result : result + (result.isEmpty() ? "" : " ") + "exit=" + code;
    }
}
