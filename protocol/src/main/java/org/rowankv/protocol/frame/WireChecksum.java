package org.rowankv.protocol.frame;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC32C of a part of a buffer, without garbage. For one thread at a time. */
public final class WireChecksum {
    private final CRC32C crc = new CRC32C();

    /** Position and limit of the buffer are as before afterwards. */
    public int of(ByteBuffer buffer, int at, int length) {
        final int position = buffer.position();
        final int limit = buffer.limit();
        crc.reset();
        buffer.limit(at + length).position(at);
        crc.update(buffer);
        buffer.limit(limit).position(position);
        return (int) crc.getValue();
    }
}
