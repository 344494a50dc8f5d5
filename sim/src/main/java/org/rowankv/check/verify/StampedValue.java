package org.rowankv.check.verify;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.rowankv.check.history.Event;

/**
 * The bytes of a value, derived from its id alone: the id, then a stream seeded by it. So a reader can tell whether
 * bytes are one whole write, and which. Stateless.
 */
public final class StampedValue {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;
    private static final int SMALL = 400;
    private static final int BLOCKS = 12_000;
    private static final int LARGE = 60_000;

    private StampedValue() {}

    /** Mostly small; every 32nd spans several blocks of a fabric, every 512th many. A multiple of 8. */
    public static int lengthOf(long id) {
        final long mixed = mix(id);
        final int bound = (mixed & 511) == 0 ? LARGE : (mixed & 31) == 0 ? BLOCKS : SMALL;
        return 8 + (int) ((mixed >>> 10) % bound) / 8 * 8;
    }

    public static byte[] of(long id) {
        final byte[] bytes = new byte[lengthOf(id)];
        LONGS.set(bytes, 0, id);
        for (int at = 8; at < bytes.length; at += 8) {
            LONGS.set(bytes, at, mix(id + at * GOLDEN_GAMMA));
        }
        return bytes;
    }

    /** The id of the value in the first {@code length} bytes, or {@link Event#TORN}. */
    public static long idIn(byte[] bytes, int length) {
        if (length < 8) {
            return Event.TORN;
        }
        final long id = (long) LONGS.get(bytes, 0);
        if (id <= Event.ABSENT || length != lengthOf(id)) {
            return Event.TORN;
        }
        for (int at = 8; at < length; at += 8) {
            if ((long) LONGS.get(bytes, at) != mix(id + at * GOLDEN_GAMMA)) {
                return Event.TORN;
            }
        }
        return id;
    }

    private static long mix(long value) {
        final long first = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        final long second = (first ^ first >>> 27) * 0x94D049BB133111EBL;
        return second ^ second >>> 31;
    }
}
