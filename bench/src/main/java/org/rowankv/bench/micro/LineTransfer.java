package org.rowankv.bench.micro;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * How long one cache line takes from one processor to another, by two threads that hand it to and fro. On a virtual machine
 * this changes by the second, by a factor of ten, as the host moves the processors; what two threads make together of
 * anything that they share changes with it, so that it is shown beside such figures.
 */
public final class LineTransfer {
    private static final long DURATION_NS = 50_000_000;
    private static final int ROUNDS = 1_000;
    private static final int BALL = 16; // longs from either end of the array

    private final AtomicLongArray line = new AtomicLongArray(2 * BALL + 1);
    private volatile boolean over;

    /** One way, in nanoseconds. */
    public static double measureNs() throws InterruptedException {
        return new LineTransfer().measure();
    }

    private double measure() throws InterruptedException {
        final Thread other = new Thread(() -> play(1, Integer.MAX_VALUE), "line-transfer");
        final long startNs = System.nanoTime();
        other.start();
        do {
            play(0, ROUNDS);
        } while (System.nanoTime() - startNs < DURATION_NS);
        over = true;
        other.join();
        return (double) (System.nanoTime() - startNs) / Math.max(1, line.get(BALL));
    }

    /** Gives the ball back {@code rounds} times. */
    private void play(int side, int rounds) {
        int left = rounds;
        while (left > 0 && !over) {
            final long ball = line.get(BALL);
            if ((ball & 1) == side) {
                line.set(BALL, ball + 1);
                left--;
            } else {
                Thread.onSpinWait();
            }
        }
    }
}
