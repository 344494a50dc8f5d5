package org.rowankv.check.crash;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.rowankv.runtime.SystemClock;

/** The child process of one round of the crash check. Confined to the parent's thread. */
final class ChildProcess {
    private static final int KILLED = 128 + 9;
    private static final int STUCK_AFTER_SECONDS = 120;
    private static final long LOOK_EVERY_NS = 200_000;

    private final Process process;
    private final Journal journal;
    private final Path output;
    private final long startedNs = SystemClock.INSTANCE.nanoTime();

    ChildProcess(CrashRound round, CrashSettings settings, Journal journal) throws IOException {
        final List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Drowan.chaos=true",
                "-cp",
                System.getProperty("java.class.path"),
                CrashChild.class.getName()));
        command.addAll(round.childArguments(settings));
        this.output = round.outputFile();
        this.journal = journal;
        this.process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
    }

    /** Returns when the child has reached this phase or has ended. */
    void awaitPhase(ChildPhase phase) {
        await(() -> journal.phase().compareTo(phase) >= 0, phase.toString());
    }

    /** Returns when the child has an acknowledged operation or has ended. */
    void awaitAcked() {
        await(journal::hasAcked, "an acknowledged operation");
    }

    private void await(BooleanSupplier reached, String what) {
        final long deadline = SystemClock.INSTANCE.nanoTime() + TimeUnit.SECONDS.toNanos(STUCK_AFTER_SECONDS);
        while (!reached.getAsBoolean() && process.isAlive()) {
            if (SystemClock.INSTANCE.nanoTime() > deadline) {
                throw new IllegalStateException("stuck: the child reached " + journal.phase() + " and not " + what
                        + " within " + STUCK_AFTER_SECONDS + " s\n" + output());
            }
            LockSupport.parkNanos(LOOK_EVERY_NS);
        }
    }

    void pauseMicros(int micros) {
        final long until = SystemClock.INSTANCE.nanoTime() + TimeUnit.MICROSECONDS.toNanos(micros);
        for (long left = until - SystemClock.INSTANCE.nanoTime();
                left > 0 && process.isAlive();
                left = until - SystemClock.INSTANCE.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    int ageMicros() {
        return (int) TimeUnit.NANOSECONDS.toMicros(SystemClock.INSTANCE.nanoTime() - startedNs);
    }

    /** Kills the child if it is alive. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    void awaitEnd() throws InterruptedException {
        awaitPhase(ChildPhase.CLOSED);
        process.waitFor(STUCK_AFTER_SECONDS, TimeUnit.SECONDS);
    }

    /** Whether it ended as expected: killed, or by itself with success. */
    boolean endedWell() {
        return process.exitValue() == KILLED || process.exitValue() == 0;
    }

    int exitValue() {
        return process.exitValue();
    }

    /** The last part of the child's output. */
    String output() {
        try {
            final String text = Files.readString(output, StandardCharsets.UTF_8);
            return text.substring(Math.max(0, text.length() - 6_000));
        } catch (IOException e) {
            return "(its output cannot be read: " + e + ")";
        }
    }
}
