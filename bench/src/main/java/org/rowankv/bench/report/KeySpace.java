package org.rowankv.bench.report;

import java.nio.charset.StandardCharsets;

/** The keys of all micro benchmarks: "user" and sixteen digits. */
public final class KeySpace {
    public static final int VALUE_LENGTH = 100;

    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private KeySpace() {}

    /** Returns fresh arrays at each call, so that lookups never use the stored instances. */
    public static byte[][] keys(int count) {
        final byte[][] keys = new byte[count][];
        for (int i = 0; i < count; i++) {
            keys[i] = key(i);
        }
        return keys;
    }

    public static byte[] key(int index) {
        final String digits = Long.toString((index * GOLDEN_GAMMA >>> 11) % 10_000_000_000_000_000L);
        return ("user" + "0".repeat(16 - digits.length()) + digits).getBytes(StandardCharsets.ISO_8859_1);
    }
}
