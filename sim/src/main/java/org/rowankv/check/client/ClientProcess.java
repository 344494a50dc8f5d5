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
import org.rowankv.runtime.SystemClock;

/** Handle of a {@link ClientJvm} in its parent process. Confined to one thread; counts are safe for any thread. */
public final class ClientProcess implements AutoCloseable {
    private static final int END_TIMEOUT_SECONDS = 60;

    /** Totals of its callers. */
    public record Counts(long operations, long unknown, long refused) {
        public static final Counts NONE = new Counts(0, 0, 0);

        public Counts plus(Counts other) {
            return new Counts(operations + other.operations, unknown + other.unknown, refused + other.refused);
        }
    }

    private final Process process;
    /** An empty element marks the end of the output. */
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
     * Starts it with the class path of this process; its log goes to this process's log.
     *
     * @param java the executable
     */
    public static ClientProcess start(Path java, String uri, int firstCaller, int callers, int registers, long seed)
            throws IOException {
        return start(java, uri, firstCaller, callers, registers, seed, false, null);
    }

    /**
     * As above.
     *
     * @param onlyReads whether its callers only read
     * @param log destination of its log; null: this process's
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
        return start(java, uri, firstCaller, callers, registers, seed, onlyReads, false, log);
    }

    /**
     * As above.
     *
     * @param oneRegister whether each caller keeps to one register: a server that does not answer stops only those that
     *     use its keys
     */
    public static ClientProcess start(
            Path java,
            String uri,
            int firstCaller,
            int callers,
            int registers,
            long seed,
            boolean onlyReads,
            boolean oneRegister,
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
                Boolean.toString(onlyReads),
                Boolean.toString(oneRegister)));
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
            // Killed while it printed: the output ends here.
        } finally {
            lines.add(Optional.empty());
        }
    }

    private static Counts countsOf(String line) {
        final String[] words = line.split(" ");
        return new Counts(Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
    }

    public long pid() {
        return process.pid();
    }

    /** Recent totals. */
    public Counts counts() {
        return counts;
    }

    /**
     * Throws unless {@link SystemClock} of that process and of this one read the same clock: its reading must lie
     * between two of this process.
     *
     * <p>On Linux it is CLOCK_MONOTONIC, one clock for all processes of a machine; its readings never go backwards, on
     * whichever processor they are taken. Let one caller read r after its operation returned, and a caller in another
     * process i before its own began. Then r &lt; i implies that the first returned before the second began: no margin
     * is needed, and a derived order is true. Equal readings count as concurrent.
     */
    public void requireSameClock() throws IOException {
        final long beforeNs = SystemClock.INSTANCE.nanoTime();
        say("CLOCK");
        final long thereNs = Long.parseLong(hear("CLOCK"));
        final long afterNs = SystemClock.INSTANCE.nanoTime();
        if (thereNs - beforeNs < 0 || afterNs - thereNs < 0) {
            throw new IOException("processes of this machine have no common clock: one read " + thereNs + ", this one "
                    + beforeNs + " before and " + afterNs
                    + " after; histories of several processes cannot be checked here");
        }
    }

    /** Starts the callers; {@link #rest} stops them, and {@link #awaitRest} waits for that. */
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

    /** Waits until the callers have stopped, and adds their operations to the window. */
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
                default -> throw new IOException("unexpected line of a client process: " + line);
            }
        }
    }

    public long reconnects() {
        return reconnects;
    }

    /** Makes each caller increment the counter this many times; {@link #awaitCounted} waits for all. */
    public void count(int calls) throws IOException {
        say("COUNT " + calls);
    }

    public void awaitCounted() throws IOException {
        final String line = line();
        if (!line.equals("COUNTED")) {
            throw new IOException("unexpected line of a client process: " + line);
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
            throw new IOException("unexpected line of a client process: " + line);
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

    /** Waits for its exit; returns the exit code. */
    public int end() throws IOException, InterruptedException {
        process.getOutputStream().close();
        if (!process.waitFor(END_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("a client process does not end");
        }
        return process.exitValue();
    }

    /** Kills it. Any thread. */
    public void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
