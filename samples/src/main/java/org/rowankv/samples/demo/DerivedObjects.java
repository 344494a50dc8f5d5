package org.rowankv.samples.demo;

import java.util.SplittableRandom;

/** Objects whose values are derived from seed and key, so that the seed suffices to check every byte. Immutable. */
final class DerivedObjects {
    static final int SHORTEST = 64;
    static final int LONGEST = 192;

    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    private final long seed;

    DerivedObjects(long seed) {
        this.seed = seed;
    }

    static String key(int number) {
        return "object-" + number;
    }

    byte[] value(String key) {
        long mixed = seed;
        for (int i = 0; i < key.length(); i++) {
            mixed = (mixed ^ key.charAt(i)) * MULTIPLIER;
        }
        final SplittableRandom random = new SplittableRandom(mixed);
        final byte[] value = new byte[random.nextInt(SHORTEST, LONGEST + 1)];
        random.nextBytes(value);
        return value;
    }
}
