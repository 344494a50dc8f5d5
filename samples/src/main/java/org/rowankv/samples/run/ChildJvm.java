package org.rowankv.samples.run;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A child process with the same java and class path. Its standard output is read here; its error stream is the user's.
 * Confined to one thread; {@link #close} leaves no process behind.
 */
public final class ChildJvm implements AutoCloseable {
    private final long startNs;
    private final Process process;
    private final BufferedReader lines;

    public ChildJvm(Class<?> main, List<String> arguments) throws IOException {
        final List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(arguments);
        final ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        this.startNs = System.nanoTime();
        this.process = builder.start();
        this.lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Returns the rest of the next line with this prefix; null if the process ended first. */
    @Nullable
    public String await(String beginning) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith(beginning)) {
                return line.substring(beginning.length());
            }
        }
        return null;
    }

    /** Nanoseconds since just before the process was created. */
    public long elapsedNs() {
        return System.nanoTime() - startNs;
    }

    /** Requests the end of the process and waits for it; returns its exit code. */
    public int end() throws IOException, InterruptedException {
        process.getOutputStream().write('\n');
        process.getOutputStream().close();
        return process.waitFor();
    }

    /** Waits for a process that ends by itself; returns its exit code. */
    public int awaitEnd() throws InterruptedException {
        return process.waitFor();
    }

    /** Sends SIGKILL, where signals exist. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        lines.close();
    }
}
