package org.rowankv.check.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.ChainEvent;
import org.rowankv.check.history.ValueEvent;
import org.rowankv.daemon.Launch;

/** A {@link ClientJvm}, seen by the process that has started it. For one thread; counts are for any. */
public final class ClientProcess implements AutoCloseable {
    private static final int END_PATIENCE_SECONDS = 60;

    /** What its callers have done so far. */
    public record Counts(long operations, long unknown, long refused) {
        public static final Counts NONE = new Counts(0, 0, 0);

        public Counts plus(Counts other) {
            return new Counts(operations + other.operations, unknown + other.unknown, refused + other.refused);
        }
    }

    private final Process process;
    /** Empty: there are no more. */
    private final BlockingQueue<Optional<String>> lines = new LinkedBlockingQueue<>();

    private volatile Counts counts = Counts.NONE;
    private long reconnects;

    private ClientProcess(Process process) {
        this.process = process;
        final Thread reader = new Thread(this::read, "client-lines");
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Starts it with the class path of this process; what it logs goes where this one's goes.
     *
     * @param java the program
     */
    public static ClientProcess start(Path java, String uri, int firstCaller, int callers, int registers, long seed)
            throws IOException {
        return start(java, uri, firstCaller, callers, registers, seed, false, null);
    }

    /**
     * As above.
     *
     * @param onlyReads whether its callers change nothing
     * @param log where its log goes; null: where this process's goes
     */
    public static ClientProcess start(
            Path java,
            String uri,
            int firstCaller,
            int callers,
            int registers,
            long seed,
            boolean onlyReads,
            @Nullable Path log)
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
                Integer.toString(registers),
                Long.toString(seed),
                Boolean.toString(onlyReads)));
        command.addAll(1, Launch.processOptions());
        return new ClientProcess(new ProcessBuilder(command)
                .redirectError(
                        log == null ? ProcessBuilder.Redirect.INHERIT : ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start());
    }

    private void read() {
        try (BufferedReader from =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = from.readLine(); line != null; line = from.readLine()) {
                if (line.startsWith("TALLY ")) {
                    counts = countsOf(line);
                } else {
                    lines.add(Optional.of(line));
                }
            }
        } catch (IOException e) {
            // The process was ended while it spoke: there are no more lines.
        } finally {
            lines.add(Optional.empty());
        }
    }

    private static Counts countsOf(String line) {
        final String[] words = line.split(" ");
        return new Counts(Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
    }

    /** Of this moment, or of a moment ago. */
    public Counts counts() {
        return counts;
    }

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

    /** Lets the callers begin; {@link #rest} ends that, and {@link #awaitRest} hears of it. */
    public void window(int[] generations) throws IOException {
        final StringBuilder line = new StringBuilder("WINDOW");
        for (int each : generations) {
            line.append(' ').append(each);
        }
        say(line.toString());
    }

    public void rest() throws IOException {
        say("REST");
    }

    /** Adds to the window what the callers have done since it began. */
    public void awaitRest(Window window) throws IOException {
        while (true) {
            final String line = line();
            if (line.equals("RESTED")) {
                return;
            }
            final int space = line.indexOf(' ');
            final String rest = line.substring(space + 1);
            switch (space < 0 ? line : line.substring(0, space)) {
                case "REGISTER" -> {
                    final int next = rest.indexOf(' ');
                    window.add(Integer.parseInt(rest.substring(0, next)), ValueEvent.ofLine(rest.substring(next + 1)));
                }
                case "CHAIN" -> {
                    final int next = rest.indexOf(' ');
                    window.add(Integer.parseInt(rest.substring(0, next)), ChainEvent.ofLine(rest.substring(next + 1)));
                }
                case "LONG" -> window.add(LongCall.ofLine(rest));
                case "EXCEPTION" -> window.addException(rest);
                case "RECONNECTS" -> reconnects = Long.parseLong(rest);
                default -> throw new IOException("a client process said: " + line);
            }
        }
    }

    /** Connections that it had to make again so far. */
    public long reconnects() {
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
        final Optional<String> line;
        try {
            line = lines.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        return line.orElseThrow(() -> new IOException("a client process has ended; its log says why"));
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
    public void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
