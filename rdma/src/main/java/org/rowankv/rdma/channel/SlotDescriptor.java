package org.rowankv.rdma.channel;

import java.nio.ByteBuffer;
import org.rowankv.rdma.verbs.VerbsException;

/**
 * Layout of one SEND: a part of the stream of bytes, behind the account of slots. Little-endian.
 *
 * <pre>
 *   0        4        8
 *   +--------+--------+----//----+
 *   | magic  | freed  |   bytes  |
 *   +--------+--------+----//----+
 * </pre>
 *
 * <p>{@code freed} counts, modulo 2^32, the SENDs of the other direction whose slots the sender of this one has posted
 * again. A SEND without bytes carries only that.
 */
final class SlotDescriptor {
    static final int MAGIC = 0x314C_5352;
    static final int MAGIC_OFFSET = 0;
    static final int FREED_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int HEADER_LENGTH = FREED_OFFSET + Integer.BYTES;

    private SlotDescriptor() {}

    static void header(ByteBuffer buffer, int offset, int freed) {
        buffer.putInt(offset + MAGIC_OFFSET, MAGIC);
        buffer.putInt(offset + FREED_OFFSET, freed);
    }

    /** Reads {@code freed} of a received SEND. */
    static int freed(ByteBuffer buffer, int offset, int length) throws VerbsException {
        if (length < HEADER_LENGTH || buffer.getInt(offset + MAGIC_OFFSET) != MAGIC) {
            throw new VerbsException("its SEND of " + length + " bytes has no header: it is no Rowan-KV server, or one"
                    + " of another version");
        }
        return buffer.getInt(offset + FREED_OFFSET);
    }
}
