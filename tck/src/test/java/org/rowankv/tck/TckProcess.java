package org.rowankv.tck;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rowankv.daemon.TestJvm;

/** A run of {@code rowan tck} as a process, to completion. */
record TckProcess(int exitCode, List<String> lines) {
    private static final int STUCK_AFTER_MINUTES = 10;

    static TckProcess run(Path directory, String... arguments) throws IOException, InterruptedException {
        final Path output = directory.resolve("tck.txt");
        final List<String> command =
                TestJvm.command("-Xmx512m", "-cp", System.getProperty("java.class.path"), TckCommand.class.getName());
        command.addAll(List.of(arguments));
        final Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        final boolean ended = process.waitFor(STUCK_AFTER_MINUTES, TimeUnit.MINUTES);
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        final List<String> lines = Files.readAllLines(output);
        if (!ended) {
            throw new IllegalStateException(
                    "the TCK did not end within " + STUCK_AFTER_MINUTES + " minutes:\n" + String.join("\n", lines));
        }
        return new TckProcess(process.exitValue(), lines);
    }

    /** The command's own output, without that of the TCK's tests. */
    List<String> linesOf(TckPart part) {
        return lines.stream()
                .filter(line -> line.startsWith(part.label() + ": ") || line.startsWith("skipped: "))
                .toList();
    }

    void show(TckPart part) {
        linesOf(part).stream().filter(line -> !line.startsWith("skipped: ")).forEach(System.out::println);
    }

    String text() {
        return String.join("\n", lines);
    }
}
