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
import java.util.function.Predicate;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Java programs in processes: run to their end, with their whole output in a file. Thread-safe. */
final class JavaProcess {
    /** Main class of the Spring sample. */
    static final String SPRING_SAMPLE = "org.rowankv.samples.spring.LibraryApplication";

    private JavaProcess() {}

    /** The program of this JVM. */
    static String java() {
        return System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
    }

    /** The class path of this process, as far as its entries are chosen. */
    static List<String> classpath(Predicate<String> entries) {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entries)
                .toList();
    }

    /** Of what an application on Rowan-KV has: no other cache, and nothing of the server processes. */
    static boolean isOfTheApplication(String entry) {
        final String name = String.valueOf(Path.of(entry).getFileName());
        return !name.startsWith("ehcache-")
                && !name.startsWith("rowan-daemon-")
                && !Path.of(entry).endsWith(Path.of("daemon", "target", "classes"));
    }

    /**
     * The class path of server processes.
     *
     * @throws ParameterException if the command was not started by {@code ./rowan}
     */
    static String daemonClasspath(CommandSpec spec) {
        final String daemon = System.getProperty("rowan.daemon.classpath");
        if (daemon == null) {
            throw new ParameterException(
                    spec.commandLine(), "the servers' class path is missing: run this by ./rowan " + spec.name());
        }
        return daemon;
    }

    /** Deletes a directory with all that is in it. */
    static void delete(Path dir) throws IOException {
        try (Stream<Path> files = Files.walk(dir)) {
            for (Path file : files.sorted((one, other) -> other.compareTo(one)).toList()) {
                Files.delete(file);
            }
        }
    }

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
        command.add(java());
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
