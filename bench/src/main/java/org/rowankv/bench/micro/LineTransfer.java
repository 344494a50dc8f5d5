package org.rowankv.bench.micro;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Measurement of the time to transfer one cache line between processors, by two threads that hand it back and forth. On
 * a virtual machine it varies by a factor of ten within seconds, as the host moves the processors. The results of two
 * threads that share data vary with it, so it is shown beside them.
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

    /** Returns the ball {@code rounds} times. */
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
