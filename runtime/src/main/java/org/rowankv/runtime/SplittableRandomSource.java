package org.rowankv.runtime;

import java.nio.charset.StandardCharsets;

/**
 * SplitMix64 generator, implemented here so that a seed yields the same numbers on every JDK. Sufficient for choices
 * and spreading. Its output reveals its state, so production seeds it with {@link SecureSeed} and never exposes whole
 * numbers.
 *
 * <p>Confined to one thread at a time.
 */
public final class SplittableRandomSource implements RandomSource {
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private final long seed;
    private long state;

    public SplittableRandomSource(long seed) {
        this.seed = seed;
        this.state = seed;
    }

    @Override
    public long nextLong() {
        state += GOLDEN_GAMMA;
        return mix(state);
    }

    @Override
    public int nextInt(int bound) {
        if (bound <= 0) {
            throw new IllegalArgumentException("bound must be positive: " + bound);
        }
        // Multiply-and-shift with rejection of the biased low values.
        long product = (nextLong() >>> 32) * bound;
        if (Integer.compareUnsigned((int) product, bound) < 0) {
            final int threshold = Integer.remainderUnsigned(-bound, bound);
            while (Integer.compareUnsigned((int) product, threshold) < 0) {
                product = (nextLong() >>> 32) * bound;
            }
        }
        return (int) (product >>> 32);
    }

    @Override
    public RandomSource fork(String name) {
        long hash = seed;
        for (final byte b : name.getBytes(StandardCharsets.UTF_8)) {
            hash = mix(hash ^ (b & 0xFF)) + GOLDEN_GAMMA;
        }
        return new SplittableRandomSource(mix(hash));
    }

    private static long mix(long value) {
        final long first = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        final long second = (first ^ first >>> 27) * 0x94D049BB133111EBL;
        return second ^ second >>> 31;
    }
}
