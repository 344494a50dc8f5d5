package org.rowankv.check.verify;

import java.util.concurrent.locks.LockSupport;
import org.rowankv.runtime.RandomSource;

/** A thread that fences links between servers at random moments, until closed. */
final class LinkCutter implements Runnable, AutoCloseable {
    private static final int LONGEST_PAUSE_MICROS = 40_000;

    private final StoreUnderTest store;
    private final RandomSource random;
    private final Tally tally;
    private final Thread thread;
    private volatile boolean running = true;
    private volatile boolean resting;

    LinkCutter(StoreUnderTest store, RandomSource random, Tally tally) {
        this.store = store;
        this.random = random;
        this.tally = tally;
        this.thread = new Thread(this, "verify-link-cutter");
        thread.setDaemon(true);
    }

    void start() {
        if (store.servers() > 1) {
            thread.start();
        }
    }

    /** Between two pauses the links stay whole for a while, so that a run covers both. */
    void rest(boolean rests) {
        resting = rests;
    }

    @Override
    public void run() {
        final int servers = store.servers();
        while (running) {
            LockSupport.parkNanos(1_000L * (500 + random.nextInt(LONGEST_PAUSE_MICROS)));
            final int from = random.nextInt(servers);
            final int to = (from + 1 + random.nextInt(servers - 1)) % servers;
            if (resting || !running) {
                continue;
            }
            try {
                store.fenceLink(from, to);
                tally.count("disturbance.links fenced");
            } catch (RuntimeException failure) {
                tally.count("failure.fencing " + from + " at " + to + ": " + failure);
            }
        }
    }

    @Override
    public void close() {
        running = false;
        LockSupport.unpark(thread);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
