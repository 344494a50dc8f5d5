package org.rowankv.check.area;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.rowankv.protocol.Version;

/**
 * The value of a key, as far as comparisons need it.
 *
 * @param hash of the value's bytes
 * @param length of the value, or −1 when there is no object
 * @param version of the object or of its removal; 0 if unknown
 */
public record Stored(long hash, int length, long version) {
    public static final int NO_OBJECT = -1;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    public static Stored absent(long version) {
        return new Stored(0, NO_OBJECT, version);
    }

    public static Stored of(byte[] value, int length, long version) {
        return new Stored(hash(value, length), length, version);
    }

    public boolean isAbsent() {
        return length == NO_OBJECT;
    }

    /** Whether both have the same bytes, or both no object; and the same version, where both are known. */
    public boolean agreesWith(Stored other) {
        return hash == other.hash
                && length == other.length
                && (isAbsent() || version == Version.NONE || other.version == Version.NONE || version == other.version);
    }

    private static long hash(byte[] bytes, int length) {
        long hash = 0x9E3779B97F4A7C15L ^ length;
        int at = 0;
        for (; at + 8 <= length; at += 8) {
            hash = mix(hash ^ (long) LONGS.get(bytes, at));
        }
        for (; at < length; at++) {
            hash = mix(hash ^ (bytes[at] & 0xff));
        }
        return hash;
    }

    private static long mix(long value) {
        final long first = (value ^ value >>> 32) * 0xBF58476D1CE4E5B9L;
        return (first ^ first >>> 29) * 0x94D049BB133111EBL;
    }

    @Override
    public String toString() {
        final String at = version == Version.NONE ? "" : " (version " + Version.toString(version) + ")";
        return isAbsent() ? "nothing" + at : length + " bytes with hash " + Long.toHexString(hash) + at;
    }
}
