package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC32C over parts of buffers of either kind, without allocating. For one thread at a time. */
final class WireChecksum {
    private static final int CHUNK = 2048;

    private final CRC32C crc = new CRC32C();
    private final byte[] scratch = new byte[CHUNK];

    int of(ByteBuf buffer, int index, int length) {
        crc.reset();
        for (int done = 0; done < length; done += CHUNK) {
            final int size = Math.min(CHUNK, length - done);
            buffer.getBytes(index + done, scratch, 0, size);
            crc.update(scratch, 0, size);
        }
        return (int) crc.getValue();
    }

    int of(ByteBuffer buffer, int index, int length) {
        crc.reset();
        for (int done = 0; done < length; done += CHUNK) {
            final int size = Math.min(CHUNK, length - done);
            buffer.get(index + done, scratch, 0, size);
            crc.update(scratch, 0, size);
        }
        return (int) crc.getValue();
    }
}
