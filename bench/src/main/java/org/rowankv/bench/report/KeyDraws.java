package org.rowankv.bench.report;

import java.util.Random;

/**
 * A sequence of keys drawn before the measurement. So the cost of a choice does not depend on the distribution.
 * Confined to one thread.
 */
public final class KeyDraws {
    private static final int DRAWS = 1 << 22;
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private final int[] draws = new int[DRAWS];
    private int next;

    private KeyDraws() {}

    public static KeyDraws uniform(int keys) {
        final KeyDraws all = new KeyDraws();
        final Random random = new Random(7);
        for (int i = 0; i < DRAWS; i++) {
            all.draws[i] = random.nextInt(keys);
        }
        return all;
    }

    /** Draws the k-th most popular key in proportion to k^-theta; popular keys are scattered. */
    public static KeyDraws zipf(int keys, double theta) {
        final double[] upTo = new double[keys];
        double sum = 0;
        for (int rank = 0; rank < keys; rank++) {
            sum += Math.pow(rank + 1.0, -theta);
            upTo[rank] = sum;
        }
        final KeyDraws all = new KeyDraws();
        final Random random = new Random(7);
        for (int i = 0; i < DRAWS; i++) {
            final int found = java.util.Arrays.binarySearch(upTo, random.nextDouble() * sum);
            final int rank = Math.min(keys - 1, found < 0 ? -found - 1 : found);
            // Two ranks may share a key: it becomes a little more popular, and other keys are never written.
            all.draws[i] = (int) Math.floorMod(rank * GOLDEN_GAMMA >>> 7, (long) keys);
        }
        return all;
    }

    public int next() {
        next = next + 1 & DRAWS - 1;
        return draws[next];
    }
}
