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
 * Another process of the same java and class path. What it prints is read here; what it says on its error stream is seen
 * by the user at once. Used by one thread; none is left behind by {@link #close}.
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

    /** The rest of the next line that begins so; null if the process ended before it came. */
    @Nullable
    public String await(String beginning) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith(beginning)) {
                return line.substring(beginning.length());
            }
        }
        return null;
    }

    /** Since just before the process was made. */
    public long elapsedNs() {
        return System.nanoTime() - startNs;
    }

    /** Asks the process to end and waits for it; returns its exit code. */
    public int end() throws IOException, InterruptedException {
        process.getOutputStream().write('\n');
        process.getOutputStream().close();
        return process.waitFor();
    }

    /** Returns the exit code of a process that ends by itself. */
    public int awaitEnd() throws InterruptedException {
        return process.waitFor();
    }

    /** SIGKILL, where there are signals. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        lines.close();
    }
}
