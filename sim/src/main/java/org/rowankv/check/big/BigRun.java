package org.rowankv.check.big;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;

/**
 * One run: in each round a child's callers put and read values of one key, until it is killed with SIGKILL. The next child must find
 * the last acknowledged value or a later one, whole; and at the end no parts may be left without a value. For one thread.
 */
public final class BigRun {
    private static final long STUCK_NS = TimeUnit.MINUTES.toNanos(3);
    private static final int LOOK_MS = 5;
    private static final int MOST_LOOKS_FOR_ORPHANS = 5;
    private static final int SETTLE_MS = 2_000;

    private final BigSettings settings;
    private final Path dir;
    private final PrintStream out;
    private final RandomSource random;
    private final List<String> problems = new ArrayList<>();
    private long values;
    private long reads;
    private long refused;
    private long lost;
    private long mixed;
    private long orphans;
    private long newestAcked;

    /** @param dir for journals and, without a cluster, the store; exists */
    public BigRun(BigSettings settings, Path dir, PrintStream out) {
        this.settings = settings;
        this.dir = dir;
        this.out = out;
        this.random = new SplittableRandomSource(settings.seed());
    }

    /** @param inProcesses whether server processes hold the values, else the child itself */
    public BigReport run(boolean inProcesses) throws IOException, InterruptedException {
        try (BigStore store = inProcesses
                ? BigStore.Processes.start(settings.capacityBytes())
                : new BigStore.Embedded(dir.resolve("store"))) {
            for (int round = 1; round <= settings.rounds() && problems.isEmpty(); round++) {
                killOne(store, round);
                out.println("big: round " + round + " of " + settings.rounds() + " values=" + values + " reads=" + reads
                        + " refused=" + refused + " mixed=" + mixed + " lost=" + lost);
            }
            lookForOrphans(store);
        }
        return new BigReport(values, reads, refused, lost, mixed, orphans, problems);
    }

    private void killOne(BigStore store, int round) throws IOException, InterruptedException {
        final Path journal = dir.resolve("journal-" + round);
        final Process child = start(store, round, settings.writers(), journal);
        try {
            final long startNs = SystemClock.INSTANCE.nanoTime();
            while (child.isAlive() && BigJournal.read(journal, "acked").isEmpty()) {
                pause(LOOK_MS);
                if (SystemClock.INSTANCE.nanoTime() - startNs > STUCK_NS) {
                    problems.add("no put was acknowledged within " + TimeUnit.NANOSECONDS.toSeconds(STUCK_NS) + " s");
                    break;
                }
            }
            pause(random.nextInt(settings.loadMs()));
            store.disturb(random);
            pause(random.nextInt(settings.loadMs()));
            if (!child.isAlive()) {
                problems.add("the child ended by itself with exit code " + child.exitValue() + ":\n" + output(round));
            }
        } finally {
            child.destroyForcibly();
            child.waitFor();
        }
        learn(journal);
    }

    private void pause(long ms) {
        final long untilNs = SystemClock.INSTANCE.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
        for (long leftNs = untilNs - SystemClock.INSTANCE.nanoTime();
                leftNs > 0;
                leftNs = untilNs - SystemClock.INSTANCE.nanoTime()) {
            LockSupport.parkNanos(this, leftNs);
        }
    }

    private void learn(Path journal) throws IOException {
        for (String text : BigJournal.read(journal, "bad")) {
            mixed++;
            problems.add(text);
        }
        for (String found : BigJournal.read(journal, "found")) {
            if (Long.parseLong(found) < newestAcked) {
                lost++;
                problems.add("version " + newestAcked + " was acknowledged, and later version " + found + " was found");
            }
        }
        values += BigJournal.read(journal, "acked").size();
        reads += BigJournal.read(journal, "read").size();
        refused += BigJournal.read(journal, "refused").size();
        newestAcked = Math.max(newestAcked, BigJournal.largest(journal, "acked"));
        newestAcked = Math.max(newestAcked, BigJournal.largest(journal, "read"));
    }

    /** The last child only looks; what killed ones have left is removed after its start. */
    private void lookForOrphans(BigStore store) throws IOException, InterruptedException {
        for (int look = 1; look <= MOST_LOOKS_FOR_ORPHANS; look++) {
            final int round = settings.rounds() + look;
            final Path journal = dir.resolve("journal-" + round);
            final Process child = start(store, round, 0, journal);
            if (!child.waitFor(STUCK_NS, TimeUnit.NANOSECONDS) || child.exitValue() != 0) {
                problems.add("the last look did not end well:\n" + output(round));
            }
            child.destroyForcibly();
            if (BigJournal.read(journal, "found").isEmpty()) {
                problems.add("the last look found no value:\n" + output(round));
            }
            learn(journal);
            orphans = store.orphans();
            if (orphans == 0 || !problems.isEmpty()) {
                return;
            }
            pause(SETTLE_MS);
        }
    }

    private Process start(BigStore store, int round, int writers, Path journal) throws IOException {
        final List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-Xmx" + settings.heapMib() + "m",
                "-XX:MaxDirectMemorySize=1g",
                "-XX:+UseParallelGC",
                "-cp",
                System.getProperty("java.class.path"),
                BigChild.class.getName()));
        command.addAll(store.target());
        command.addAll(List.of(
                journal.toString(),
                Long.toString(settings.capacityBytes()),
                Integer.toString(writers),
                Integer.toString(settings.readers()),
                settings.sizesText(),
                Integer.toString(settings.budgetMib()),
                Integer.toString(round),
                Long.toString(random.nextLong())));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(outputOf(round).toFile())
                .start();
    }

    private Path outputOf(int round) {
        return dir.resolve("output-" + round);
    }

    private String output(int round) throws IOException {
        final String text = Files.readString(outputOf(round), StandardCharsets.UTF_8);
        return text.substring(Math.max(0, text.length() - 4_000));
    }
}
