package org.rowankv.topology;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The 64-bit hash that places a key: seeded per cluster (the seed is part of the configuration and of the format on
 * disk), so that keys cannot be chosen to hit one shard without the seed. Not a cryptographic hash. Immutable.
 */
public final class KeyHash {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    // Odd constants with about half of their bits set: fractional parts of square roots of primes.
    private static final long M0 = 0x6a09e667f3bcc909L;
    private static final long M1 = 0xbb67ae8584caa73bL;
    private static final long M2 = 0x3c6ef372fe94f82bL;

    // Every operand of a multiplication is masked by one of these, so that no chosen key makes a factor zero.
    private final long s0;
    private final long s1;
    private final long s2;

    public KeyHash(long seed) {
        this.s0 = fold(seed ^ M0, M1) ^ M2;
        this.s1 = fold(s0 ^ M1, M2) ^ seed;
        this.s2 = fold(s1 ^ M2, M0) ^ s0;
    }

    /** Hash of a key of a cache: equal bytes in two caches are two keys. */
    public long hash(int cacheId, byte[] key, int offset, int length) {
        long h = fold(cacheId ^ s2, length ^ s0);
        int at = offset;
        int left = length;
        while (left > 16) {
            h = fold((long) LONGS.get(key, at) ^ s0, (long) LONGS.get(key, at + 8) ^ s1 ^ h);
            at += 16;
            left -= 16;
        }
        long a;
        long b;
        if (left > 8) {
            a = (long) LONGS.get(key, at);
            b = (long) LONGS.get(key, at + left - 8);
        } else if (left >= 4) {
            a = (int) INTS.get(key, at) & 0xffff_ffffL;
            b = (int) INTS.get(key, at + left - 4) & 0xffff_ffffL;
        } else if (left > 0) {
            a = (key[at] & 0xffL) | (key[at + (left >> 1)] & 0xffL) << 8 | (key[at + left - 1] & 0xffL) << 16;
            b = 0;
        } else {
            a = 0;
            b = 0;
        }
        h = fold(a ^ s1, b ^ s2 ^ h);
        return fold(h ^ s0, M1 ^ length);
    }

    /** Both halves of the 128-bit product, folded. */
    private static long fold(long x, long y) {
        return (x * y) ^ Math.multiplyHigh(x, y);
    }
}
