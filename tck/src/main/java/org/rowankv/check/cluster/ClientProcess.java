package org.rowankv.check.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rowankv.check.history.ValueEvent;
import org.rowankv.node.Launch;

/** A {@link ClientJvm}, seen by whoever has started it. For one thread. */
public final class ClientProcess implements AutoCloseable {
    private static final int END_PATIENCE_SECONDS = 60;

    private final Process process;
    private final BufferedReader lines;
    private long reconnects;

    private ClientProcess(Process process) {
        this.process = process;
        this.lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /**
     * Starts it with the class path of this process.
     *
     * @param java the program
     */
    public static ClientProcess start(Path java, String uri, int firstCaller, int callers, int keys, long seed)
            throws IOException {
        final List<String> command = new ArrayList<>(List.of(
                java.toString(),
                "-ea",
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                ClientJvm.class.getName(),
                uri,
                Integer.toString(firstCaller),
                Integer.toString(callers),
                Integer.toString(keys),
                Long.toString(seed)));
        command.addAll(1, Launch.processOptions());
        return new ClientProcess(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** An operation of a window, and the key that it is of. */
    record KeyedEvent(int key, ValueEvent event) {}

    /** What a window has told. */
    record Window(List<KeyedEvent> events, List<String> exceptions) {}

    /**
     * Fails unless {@link System#nanoTime} of that process reads one clock with this one's: its reading has to lie between two
     * of this process.
     *
     * <p>On Linux it is CLOCK_MONOTONIC, one clock for all processes of a machine whose readings never go backwards, whichever
     * processor they are taken on. So when a caller has read r after its operation returned, and another one in another
     * process i before its own began, then r &lt; i says that the one had returned before the other began: no margin is needed,
     * and an order that is derived from it is true. Equal readings count as at the same time.
     */
    public void requireSameClock() throws IOException {
        final long beforeNs = System.nanoTime();
        say("CLOCK");
        final long thereNs = Long.parseLong(hear("CLOCK"));
        final long afterNs = System.nanoTime();
        if (thereNs - beforeNs < 0 || afterNs - thereNs < 0) {
            throw new IOException("processes of this machine have no common clock: one read " + thereNs + ", this one "
                    + beforeNs + " before and " + afterNs
                    + " after; histories of several processes cannot be judged here");
        }
    }

    /** Lets each caller make so many operations; {@link #awaitRest} hears of them. */
    void window(int operations) throws IOException {
        say("WINDOW " + operations);
    }

    Window awaitRest() throws IOException {
        final Window window = new Window(new ArrayList<>(), new ArrayList<>());
        while (true) {
            final String line = line();
            if (line.equals("REST")) {
                return window;
            }
            final int space = line.indexOf(' ');
            final String rest = line.substring(space + 1);
            switch (space < 0 ? line : line.substring(0, space)) {
                case "EVENT" -> {
                    final int next = rest.indexOf(' ');
                    window.events()
                            .add(new KeyedEvent(
                                    Integer.parseInt(rest.substring(0, next)),
                                    ValueEvent.ofLine(rest.substring(next + 1))));
                }
                case "EXCEPTION" -> window.exceptions().add(rest);
                case "RECONNECTS" -> reconnects = Long.parseLong(rest);
                default -> throw new IOException("a client process said: " + line);
            }
        }
    }

    /** Connections that it had to make again so far. */
    long reconnects() {
        return reconnects;
    }

    /** Lets each caller increment the counter so often; {@link #awaitCounted} hears when all have. */
    public void count(int calls) throws IOException {
        say("COUNT " + calls);
    }

    public void awaitCounted() throws IOException {
        final String line = line();
        if (!line.equals("COUNTED")) {
            throw new IOException("a client process said: " + line);
        }
    }

    private void say(String line) throws IOException {
        final OutputStream out = process.getOutputStream();
        out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private String hear(String beginning) throws IOException {
        final String line = line();
        if (!line.startsWith(beginning + " ")) {
            throw new IOException("a client process said: " + line);
        }
        return line.substring(beginning.length() + 1);
    }

    private String line() throws IOException {
        final String line = lines.readLine();
        if (line == null) {
            throw new IOException("a client process has ended; what it said about that stands above");
        }
        return line;
    }

    /** Lets it end by itself; its exit code. */
    public int end() throws IOException, InterruptedException {
        process.getOutputStream().close();
        if (!process.waitFor(END_PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("a client process does not end");
        }
        return process.exitValue();
    }

    /** Any thread: ends it at once. */
    void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        lines.close();
    }
}
