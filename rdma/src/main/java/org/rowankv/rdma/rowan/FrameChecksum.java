package org.rowankv.rdma.rowan;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Allocation-free computation of the two CRC32C of a frame. Bytes pass through a small heap array, because the JDK's
 * update of an array needs no position and is faster.
 *
 * <p>For one thread at a time: every worker and every scan has its own.
 */
public final class FrameChecksum {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN)
            .withInvokeExactBehavior();
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN)
            .withInvokeExactBehavior();
    private static final int PLACEMENT_LENGTH = 28;
    private static final int CHUNK = 2048;

    private final CRC32C crc = new CRC32C();
    private final byte[] scratch = new byte[CHUNK];

    /** Over address, publication word, body crc, tag and stamp, little-endian in this order. */
    public int placement(long address, long word, int bodyCrc, int tag, int stamp) {
        LONGS.set(scratch, 0, address);
        LONGS.set(scratch, 8, word);
        INTS.set(scratch, 16, bodyCrc);
        INTS.set(scratch, 20, tag);
        INTS.set(scratch, 24, stamp);
        crc.reset();
        crc.update(scratch, 0, PLACEMENT_LENGTH);
        return (int) crc.getValue();
    }

    /** Over {@code length} bytes of the buffer from {@code offset}. */
    public int body(ByteBuffer buffer, int offset, int length) {
        crc.reset();
        for (int done = 0; done < length; done += CHUNK) {
            final int size = Math.min(CHUNK, length - done);
            buffer.get(offset + done, scratch, 0, size);
            crc.update(scratch, 0, size);
        }
        return (int) crc.getValue();
    }
}
