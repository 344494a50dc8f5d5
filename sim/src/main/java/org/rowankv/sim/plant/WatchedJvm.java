package org.rowankv.sim.plant;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rowankv.runtime.Clock;

/**
 * A child JVM that is killed, with all its descendants, once it takes too long or prints nothing for too long. Confined
 * to one thread.
 */
public final class WatchedJvm {
    private static final int LOOK_EVERY_MS = 50;
    private static final int NOT_ENDED = -1;

    private final Clock clock;
    private final Path output;
    private int processorSeconds;

    /**
     * Its result.
     *
     * @param exitCode negative if it was killed
     * @param processorSeconds of its own, rounded up: more meaningful than elapsed time on a shared machine
     */
    record Ended(int exitCode, List<String> lines, int processorSeconds) {
        boolean wasEnded() {
            return exitCode == NOT_ENDED;
        }
    }

    /** @param output the file for its output */
    public WatchedJvm(Clock clock, Path output) {
        this.clock = clock;
        this.output = output;
    }

    /**
     * Runs a command to completion.
     *
     * @param mostSeconds longest run time
     * @param silentSeconds longest time without output
     */
    public Ended run(List<String> command, Path directory, int mostSeconds, int silentSeconds) {
        try {
            final long start = clock.nanoTime();
            final Process process = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            final boolean ended = awaitEnd(process, start, mostSeconds, silentSeconds);
            if (!ended) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly().waitFor();
            }
            // The output may be no valid text; malformed bytes do not matter here.
            final String text = new String(Files.readAllBytes(output), StandardCharsets.UTF_8);
            return new Ended(
                    ended ? process.exitValue() : NOT_ENDED, text.lines().toList(), processorSeconds);
        } catch (IOException e) {
            throw new UncheckedIOException("a JVM for a planted bug could not be started", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private boolean awaitEnd(Process process, long start, int mostSeconds, int silentSeconds)
            throws InterruptedException, IOException {
        long printed = 0;
        long heardAt = start;
        processorSeconds = 1;
        while (!process.waitFor(LOOK_EVERY_MS, TimeUnit.MILLISECONDS)) {
            final long now = clock.nanoTime();
            process.info()
                    .totalCpuDuration()
                    .ifPresent(used ->
                            processorSeconds = (int) used.plusMillis(999).toSeconds());
            final long size = Files.size(output);
            if (size != printed) {
                printed = size;
                heardAt = now;
            }
            if (now - start > TimeUnit.SECONDS.toNanos(mostSeconds)
                    || now - heardAt > TimeUnit.SECONDS.toNanos(silentSeconds)) {
                return false;
            }
        }
        return true;
    }
}
