package org.rowankv.samples.dropin;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Spring Boot application in a process, that serves HTTP at a port of its own choice. Confined to one thread. */
final class WebApplication implements AutoCloseable {
    private static final Pattern STARTED = Pattern.compile("Tomcat started on port (\\d+)");
    private static final long START_LIMIT_S = 120;
    private static final long STOP_LIMIT_S = 30;

    private final Process process;
    private final CompletableFuture<Integer> port = new CompletableFuture<>();

    private WebApplication(Process process) {
        this.process = process;
    }

    /**
     * Starts it, and waits until it serves.
     *
     * @param log receives the output
     * @throws IOException if it does not serve
     */
    static WebApplication start(List<String> classpath, Path log, String main, List<String> properties)
            throws IOException, InterruptedException {
        final List<String> command =
                new ArrayList<>(List.of(JavaProcess.java(), "-cp", String.join(File.pathSeparator, classpath), main));
        command.add("--server.port=0");
        properties.forEach(property -> command.add("--" + property));
        final WebApplication started = new WebApplication(
                new ProcessBuilder(command).redirectErrorStream(true).start());
        final Thread reader = new Thread(() -> started.keep(log), "application-output");
        reader.setDaemon(true);
        reader.start();
        try {
            final int unused = started.port.get(START_LIMIT_S, TimeUnit.SECONDS);
            return started;
        } catch (ExecutionException | TimeoutException e) {
            started.close();
            throw new IOException("the application has not started; its output is in " + log, e);
        }
    }

    private void keep(Path log) {
        try (BufferedReader output =
                        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
                PrintStream kept = new PrintStream(log.toFile(), StandardCharsets.UTF_8)) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                kept.println(line);
                final Matcher found = STARTED.matcher(line);
                if (found.find()) {
                    port.complete(Integer.parseInt(found.group(1)));
                }
            }
            port.completeExceptionally(new IOException("the application has ended"));
        } catch (IOException e) {
            port.completeExceptionally(e);
        }
    }

    /** Of its pages, without a slash at the end. */
    String address() {
        return "http://127.0.0.1:" + port.join();
    }

    /** Asks it to stop, as a system does, and kills it if it does not. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(STOP_LIMIT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
