package org.rowankv.check.big;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A value all of whose bytes depend on its writer, its number and its length: parts of two values never make one.
 *
 * <pre>
 *   0        8        16       24
 *   +--------+--------+--------+-----------------------------+
 *   | writer | number | length | pseudo-random words of these |
 *   +--------+--------+--------+-----------------------------+
 * </pre>
 */
final class BigValue {
    static final int LEAST_LENGTH = 24;

    private static final int WORDS_OFFSET = 24;

    private BigValue() {}

    static byte[] of(long writer, long number, int length) {
        final byte[] value = new byte[length];
        final ByteBuffer out = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(writer).putLong(number).putLong(length);
        long state = seed(writer, number, length);
        int at = WORDS_OFFSET;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            state = next(state);
            out.putLong(at, state);
        }
        for (; at < length; at++) {
            state = next(state);
            value[at] = (byte) state;
        }
        return value;
    }

    /** Whether the bytes are one whole value. */
    static boolean isWhole(byte[] bytes, int length) {
        if (length < LEAST_LENGTH) {
            return false;
        }
        final ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (in.getLong(2 * Long.BYTES) != length) {
            return false;
        }
        long state = seed(in.getLong(0), in.getLong(Long.BYTES), length);
        int at = WORDS_OFFSET;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            state = next(state);
            if (in.getLong(at) != state) {
                return false;
            }
        }
        for (; at < length; at++) {
            state = next(state);
            if (bytes[at] != (byte) state) {
                return false;
            }
        }
        return true;
    }

    private static long seed(long writer, long number, int length) {
        return (writer * 0x9e3779b97f4a7c15L ^ number) * 0xbf58476d1ce4e5b9L + length;
    }

    private static long next(long state) {
        return state * 6364136223846793005L + 1442695040888963407L;
    }
}
