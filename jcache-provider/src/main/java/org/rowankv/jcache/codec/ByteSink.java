package org.rowankv.jcache.codec;

import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;

/** Growing byte array for encoded objects, reused between operations. Used by one thread at a time. */
public final class ByteSink extends OutputStream {
    private static final VarHandle SHORTS = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final int MAX_LENGTH = Integer.MAX_VALUE - 8;

    private byte[] bytes;
    private int length;

    public ByteSink(int capacity) {
        bytes = new byte[capacity];
    }

    /** The backing array; valid until the next write. */
    public byte[] bytes() {
        return bytes;
    }

    public int length() {
        return length;
    }

    public void reset() {
        length = 0;
    }

    public byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    /** Releases an array that a large object has enlarged. */
    public void shrinkAbove(int limit, int capacity) {
        if (bytes.length > limit) {
            bytes = new byte[capacity];
            length = 0;
        }
    }

    /** Reserves {@code count} more bytes, counted as written; returns their first index. */
    public int claim(int count) {
        final int start = length;
        final long needed = (long) start + count;
        if (needed > bytes.length) {
            if (needed > MAX_LENGTH) {
                throw new OutOfMemoryError("an encoded object would have " + needed + " bytes");
            }
            bytes = Arrays.copyOf(bytes, (int) Math.min(MAX_LENGTH, Math.max(needed, 2L * bytes.length)));
        }
        length = (int) needed;
        return start;
    }

    @Override
    public void write(int value) {
        final int at = claim(1);
        bytes[at] = (byte) value;
    }

    @Override
    public void write(byte[] source, int offset, int count) {
        Objects.checkFromIndexSize(offset, count, source.length);
        final int at = claim(count);
        System.arraycopy(source, offset, bytes, at, count);
    }

    public void writeShort(int value) {
        final int at = claim(2);
        SHORTS.set(bytes, at, (short) value);
    }

    /** Forgets what was written from an index on. */
    void truncate(int newLength) {
        length = newLength;
    }

    /**
     * Writes the length of what follows index {@code at}, at which one byte was reserved: seven bits per byte, the lowest
     * first. What follows moves if the length needs more bytes.
     */
    public void setVarint(int at) {
        final int count = length - at - 1;
        int extra = 0;
        for (int rest = count >>> 7; rest != 0; rest >>>= 7) {
            extra++;
        }
        if (extra > 0) {
            claim(extra);
            System.arraycopy(bytes, at + 1, bytes, at + 1 + extra, count);
        }
        int rest = count;
        for (int i = 0; i < extra; i++) {
            bytes[at + i] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        bytes[at + extra] = (byte) rest;
    }

    /** Overwrites four bytes. */
    void setInt(int at, int value) {
        INTS.set(bytes, at, value);
    }

    public void writeInt(int value) {
        final int at = claim(4);
        INTS.set(bytes, at, value);
    }

    void writeLong(long value) {
        final int at = claim(8);
        LONGS.set(bytes, at, value);
    }
}
