package org.rowankv.bench;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * How long one cache line takes from one processor to another, by two threads that hand it to and fro. On a virtual machine
 * this changes by the second, by a factor of ten, as the host moves the processors; what two threads make together of
 * anything that they share changes with it, so that it is shown beside such figures.
 */
final class LineTransfer {
    private static final long DURATION_NS = 50_000_000;
    private static final int BALL = 16; // longs from either end of the array

    private final AtomicLongArray line = new AtomicLongArray(2 * BALL + 1);
    private volatile boolean over;

    /** One way, in nanoseconds. */
    static double measureNs() throws InterruptedException {
        return new LineTransfer().measure();
    }

    private double measure() throws InterruptedException {
        final Thread other = new Thread(() -> play(1), "line-transfer");
        final long startNs = System.nanoTime();
        other.start();
        final Thread clock = new Thread(this::endInTime, "line-transfer-clock");
        clock.start();
        play(0);
        other.join();
        clock.join();
        return (double) (System.nanoTime() - startNs) / Math.max(1, line.get(BALL));
    }

    private void play(int side) {
        while (!over) {
            final long ball = line.get(BALL);
            if ((ball & 1) == side) {
                line.set(BALL, ball + 1);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    private void endInTime() {
        try {
            Thread.sleep(DURATION_NS / 1_000_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nobody interrupts it; the game is over all the same
        } finally {
            over = true;
        }
    }
}
