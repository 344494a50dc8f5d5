package org.rowankv.check.soak;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The n-th operation on a key, derived from kind, key and n alone: a removal, or a put of bytes that identify it. So a
 * reader can derive a whole history without communication. Stateless.
 */
final class SoakValue {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long STEP = 6364136223846793005L;
    private static final int REMOVAL_ONE_IN = 8;
    private static final int SHORTEST = 24;
    private static final int SHORT = 400;
    /** Exceeds the fabric's message size; used occasionally. */
    private static final int LONG = 20_000;

    private static final int LONG_ONE_IN = 256;
    private static final int KEY_SHIFT = 8;

    private SoakValue() {}

    private static long mix(long value) {
        final long first = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        final long second = (first ^ first >>> 27) * 0x94D049BB133111EBL;
        return second ^ second >>> 31;
    }

    private static long hash(int kind, int key, long number) {
        return mix(mix(((long) key << KEY_SHIFT) + kind) + number * 0x9e3779b97f4a7c15L);
    }

    static byte[] key(int kind, int key) {
        final byte[] bytes = new byte[Long.BYTES];
        LONGS.set(bytes, 0, ((long) key << KEY_SHIFT) + kind);
        return bytes;
    }

    /** The first operation on a key is a put. */
    static boolean isRemoval(int kind, int key, long number) {
        return number > 1 && Long.remainderUnsigned(hash(kind, key, number), REMOVAL_ONE_IN) == 0;
    }

    static int lengthOf(int kind, int key, long number) {
        final long hash = hash(kind, key, number) >>> 8;
        final int bound = hash % LONG_ONE_IN == 0 ? LONG : SHORT;
        return SHORTEST + (int) ((hash >>> 16) % bound) / 8 * 8;
    }

    /** Lifetime of the value in milliseconds, in a cache whose values expire. */
    static long lifetimeMs(int kind, int key, long number) {
        return 200 + (hash(kind, key, number) >>> 40) % 1_500;
    }

    /** Writes the value into the array, which must be long enough; returns its length. */
    static int write(int kind, int key, long number, byte[] into) {
        final int length = lengthOf(kind, key, number);
        LONGS.set(into, 0, ((long) key << KEY_SHIFT) + kind);
        LONGS.set(into, 8, number);
        long state = hash(kind, key, number);
        for (int at = 16; at < length; at += 8) {
            LONGS.set(into, at, state);
            state = state * STEP + 1;
        }
        return length;
    }

    /** The number of the operation on the key that wrote these bytes; −1 when none did. */
    static long numberIn(int kind, int key, byte[] bytes, int length) {
        if (length < SHORTEST || (long) LONGS.get(bytes, 0) != ((long) key << KEY_SHIFT) + kind) {
            return -1;
        }
        final long number = (long) LONGS.get(bytes, 8);
        if (number < 1 || length != lengthOf(kind, key, number)) {
            return -1;
        }
        long state = hash(kind, key, number);
        for (int at = 16; at < length; at += 8) {
            if ((long) LONGS.get(bytes, at) != state) {
                return -1;
            }
            state = state * STEP + 1;
        }
        return number;
    }

    static int longest() {
        return SHORTEST + LONG;
    }
}
