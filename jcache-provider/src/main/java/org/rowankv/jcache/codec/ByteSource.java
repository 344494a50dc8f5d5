package org.rowankv.jcache.codec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Reader of the bytes of {@link ByteSink}; throws {@link MalformedBytesException} at the end. Used by one thread. */
public final class ByteSource {
    private static final VarHandle SHORTS = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final byte[] bytes;
    private int end;
    private int at;

    public ByteSource(byte[] bytes, int offset, int length) {
        this.bytes = bytes;
        this.at = offset;
        this.end = offset + length;
    }

    public byte[] bytes() {
        return bytes;
    }

    public int remaining() {
        return end - at;
    }

    /** Skips {@code count} bytes and returns their first index. */
    public int skip(int count) {
        if (count < 0 || count > end - at) {
            throw new MalformedBytesException(
                    "an encoded object of this kind has at least " + count + " more bytes, not " + (end - at));
        }
        final int start = at;
        at += count;
        return start;
    }

    /**
     * Narrows this to the next {@code count} bytes, which {@link #leave} ends.
     *
     * @return the end before
     */
    int enter(int count) {
        final int outerEnd = end;
        end = skip(count) + count;
        at = end - count;
        return outerEnd;
    }

    /** Ends what {@link #enter} began; requires that everything inside was read. */
    void leave(int outerEnd) {
        if (at != end) {
            throw new MalformedBytesException(end - at + " bytes too many in a part of an encoded object");
        }
        end = outerEnd;
    }

    /** The next byte, which stays; requires that there is one. */
    public byte peek() {
        return bytes[at];
    }

    public byte readByte() {
        return bytes[skip(1)];
    }

    public short readShort() {
        return (short) SHORTS.get(bytes, skip(2));
    }

    public int readInt() {
        return (int) INTS.get(bytes, skip(4));
    }

    long readLong() {
        return (long) LONGS.get(bytes, skip(8));
    }

    /** A number as {@link ByteSink#setVarint} writes it. */
    public int readVarint() {
        int value = 0;
        for (int shift = 0; shift < Integer.SIZE; shift += 7) {
            final int next = readByte();
            value |= (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new MalformedBytesException("a stored length has more than five bytes");
    }

    public byte[] readBytes(int count) {
        final int start = skip(count);
        return Arrays.copyOfRange(bytes, start, start + count);
    }
}
