package org.rowankv.check.cluster;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.rowankv.check.client.ClientProcess;
import org.rowankv.runtime.SystemClock;

/** A thread that prints the progress of a run every few seconds. */
final class RunProgress {
    private static final int LONG_RUN_SECONDS = 30;

    private final PrintStream out;
    private final List<ClientProcess> clients;
    private final Supplier<String> underWay;
    private final IntSupplier exceptions;
    private final long everyNs;
    private final long startNs = SystemClock.INSTANCE.nanoTime();
    private final Thread thread = new Thread(this::print, "verify-progress");
    private volatile boolean over;

    /**
     * Creates it, not started.
     *
     * @param underWay current activity, or empty
     * @param exceptions so far, that no application should see
     */
    RunProgress(
            PrintStream out,
            List<ClientProcess> clients,
            Supplier<String> underWay,
            IntSupplier exceptions,
            int secondsOfRun) {
        this.out = out;
        this.clients = List.copyOf(clients);
        this.underWay = underWay;
        this.exceptions = exceptions;
        this.everyNs = TimeUnit.SECONDS.toNanos(secondsOfRun > LONG_RUN_SECONDS ? 5 : 1);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    void stop() {
        over = true;
        LockSupport.unpark(thread);
    }

    private void print() {
        long lastNs = startNs;
        long lastOperations = 0;
        while (!over) {
            final long leftNs = everyNs - (SystemClock.INSTANCE.nanoTime() - lastNs);
            if (leftNs > 0) {
                LockSupport.parkNanos(this, leftNs);
                continue;
            }
            ClientProcess.Counts counts = ClientProcess.Counts.NONE;
            for (ClientProcess client : clients) {
                counts = counts.plus(client.counts());
            }
            final long nowNs = SystemClock.INSTANCE.nanoTime();
            final String now = underWay.get();
            out.printf(
                    Locale.ROOT,
                    "verify: %5.1f s  %,d operations (%,.0f/s), %,d refused, %,d unknown, %,d exceptions%s%n",
                    (nowNs - startNs) / 1e9,
                    counts.operations(),
                    (counts.operations() - lastOperations) * 1e9 / (nowNs - lastNs),
                    counts.refused(),
                    counts.unknown(),
                    exceptions.getAsInt(),
                    now.isEmpty() ? "" : "  [" + now + "]");
            lastNs = nowNs;
            lastOperations = counts.operations();
        }
    }
}
