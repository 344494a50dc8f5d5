package org.rowankv.rdma.tcp.wire;

import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** CRC32C over parts of buffers of either kind, without allocating. For one thread at a time. */
public final class WireChecksum {
    private static final int CHUNK = 2048;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final CRC32C crc = new CRC32C();
    private final byte[] scratch = new byte[CHUNK];

    public int of(ByteBuf buffer, int index, int length) {
        crc.reset();
        for (int done = 0; done < length; done += CHUNK) {
            final int size = Math.min(CHUNK, length - done);
            copy(buffer, index + done, size);
            crc.update(scratch, 0, size);
        }
        return (int) crc.getValue();
    }

    /** Not by getBytes: without Unsafe (newer JDKs) that makes an object for each buffer received. */
    private void copy(ByteBuf buffer, int index, int size) {
        int i = 0;
        for (; i + Long.BYTES <= size; i += Long.BYTES) {
            LONGS.set(scratch, i, buffer.getLongLE(index + i));
        }
        for (; i < size; i++) {
            scratch[i] = buffer.getByte(index + i);
        }
    }

    public int of(ByteBuffer buffer, int index, int length) {
        crc.reset();
        for (int done = 0; done < length; done += CHUNK) {
            final int size = Math.min(CHUNK, length - done);
            buffer.get(index + done, scratch, 0, size);
            crc.update(scratch, 0, size);
        }
        return (int) crc.getValue();
    }
}
