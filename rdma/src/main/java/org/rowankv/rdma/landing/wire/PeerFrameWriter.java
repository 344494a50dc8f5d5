package org.rowankv.rdma.landing.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rowankv.protocol.frame.WireChecksum;

/**
 * Writer of single frames in Netty's memory. It lays out the head in its own buffer and copies words: a view of Netty's
 * buffer would be an object per frame. For one thread at a time.
 */
public final class PeerFrameWriter {
    private final WireChecksum checksum = new WireChecksum();
    private final ByteBuffer head =
            ByteBuffer.allocate(PeerFrameDescriptor.HEAD_LENGTH).order(ByteOrder.LITTLE_ENDIAN);

    /** A frame without payload. */
    public ByteBuf frame(ByteBufAllocator allocator, int type, int flags, long number, long first, long second) {
        return frame(allocator, type, flags, 0, 0, number, first, second);
    }

    /** A message. */
    public ByteBuf message(ByteBufAllocator allocator, long sequence, ByteBuffer payload) {
        final int size = payload.remaining();
        final ByteBuffer bytes = payload.duplicate();
        final int crc = checksum.of(bytes, bytes.position(), size);
        return frame(allocator, PeerFrameDescriptor.MESSAGE, 0, size, crc, sequence, 0, 0)
                .writeBytes(bytes);
    }

    private ByteBuf frame(
            ByteBufAllocator allocator,
            int type,
            int flags,
            int payload,
            int small,
            long number,
            long first,
            long second) {
        PeerFrameDescriptor.head(head, 0, type, flags, payload, small, number, first, second, checksum);
        final ByteBuf frame = allocator.directBuffer(PeerFrameDescriptor.HEAD_LENGTH + payload);
        for (int at = 0; at < PeerFrameDescriptor.HEAD_LENGTH; at += Long.BYTES) {
            frame.writeLongLE(head.getLong(at));
        }
        return frame;
    }
}
