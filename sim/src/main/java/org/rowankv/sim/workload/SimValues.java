package org.rowankv.sim.workload;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.rowankv.check.history.Event;

/** Value bytes derived from ids alone, so that a read identifies its write, and detects torn values. */
public final class SimValues {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final int small;
    private final int large;

    public SimValues(int small, int large) {
        this.small = small;
        this.large = large;
    }

    private int lengthOf(long id) {
        final long mixed = mix(id);
        final int bound = (mixed & 15) == 0 ? large : small;
        return 16 + (int) ((mixed >>> 10) % bound) / 8 * 8;
    }

    /** Whether its length is among the rare, large ones. */
    public boolean isLarge(long id) {
        return lengthOf(id) > Math.max(small, large / 2);
    }

    public byte[] of(long id) {
        final byte[] bytes = new byte[lengthOf(id)];
        long state = mix(id);
        for (int at = 8; at < bytes.length; at += 8) {
            LONGS.set(bytes, at, state);
            state = state * 6364136223846793005L + 1442695040888963407L;
        }
        LONGS.set(bytes, 0, id);
        return bytes;
    }

    /** The id of a value, or {@link Event#TORN}. */
    public long idIn(byte[] bytes, int length) {
        final long id = length < 16 ? Event.ABSENT : (long) LONGS.get(bytes, 0);
        if (id <= Event.ABSENT || length != lengthOf(id)) {
            return Event.TORN;
        }
        long state = mix(id);
        for (int at = 8; at < length; at += 8) {
            if ((long) LONGS.get(bytes, at) != state) {
                return Event.TORN;
            }
            state = state * 6364136223846793005L + 1442695040888963407L;
        }
        return id;
    }

    private static long mix(long value) {
        final long first = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        final long second = (first ^ first >>> 27) * 0x94D049BB133111EBL;
        return (second ^ second >>> 31) & Long.MAX_VALUE;
    }
}
