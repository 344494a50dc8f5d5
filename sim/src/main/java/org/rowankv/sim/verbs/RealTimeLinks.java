package org.rowankv.sim.verbs;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.RandomSource;

/** Links between servers with threads of their own: whichever device is polled makes what is due happen. */
public final class RealTimeLinks implements VerbsLinks {
    private static final int LONGEST_NS = 20_000;
    private static final int SPLIT_PERCENT = 30;

    /** Something at a given time; equal times in the order of their numbers. */
    private record Due(long atNs, long number, Runnable what) {}

    private final Clock clock;
    private final RandomSource random;
    private final PriorityQueue<Due> due =
            new PriorityQueue<>(Comparator.comparingLong(Due::atNs).thenComparingLong(Due::number));
    private long numbers;

    /** @param random draws latencies; the order of threads is not its own */
    public RealTimeLinks(Clock clock, RandomSource random) {
        this.clock = clock;
        this.random = random;
    }

    @Override
    public long nowNs() {
        return clock.nanoTime();
    }

    @Override
    public long arrivalNs(int from, int to) {
        return nowNs() + 1 + random.nextInt(LONGEST_NS);
    }

    @Override
    public void at(long ns, Runnable what) {
        due.add(new Due(ns, numbers++, what));
    }

    @Override
    public void runDue() {
        for (Due next = due.peek(); next != null && next.atNs - nowNs() <= 0; next = due.peek()) {
            due.remove();
            next.what.run();
        }
    }

    @Override
    public int together(int bytes) {
        return random.nextInt(100) < SPLIT_PERCENT ? 1 + random.nextInt(bytes) : bytes;
    }

    @Override
    public void count(String event) {
        // No one reads counts here.
    }

    @Override
    public void violation(String what) {
        throw new IllegalStateException(what);
    }
}
