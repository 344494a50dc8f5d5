package org.rowankv.rdma.tcp.wire;

import io.netty.buffer.ByteBuf;

/**
 * Layout of the two frames between hello and welcome where the hello's method is the secret. Little-endian. The first 24
 * bytes are those of {@link HelloDescriptor}.
 *
 * <pre>
 *   challenge, from the called server
 *   0       8      12       16        20       24            40
 *   +-------+------+--------+---------+--------+-------------+
 *   | magic | crc  | length | version | status | fresh nonce |
 *   +-------+------+--------+---------+--------+-------------+
 *
 *   proof, from the caller
 *   0       8      12       16        20       24            56
 *   +-------+------+--------+---------+--------+-------------+
 *   | magic | crc  | length | version | method | MAC         |
 *   +-------+------+--------+---------+--------+-------------+
 * </pre>
 */
public final class ProofDescriptor {
    /** In place of a welcome's status. */
    static final int STATUS_CHALLENGE = 255;

    static final int STATUS_OFFSET = HelloDescriptor.STATUS_OFFSET;
    static final int METHOD_OFFSET = HelloDescriptor.STATUS_OFFSET;
    static final int FRESH_OFFSET = HelloDescriptor.PREFIX_LENGTH;
    public static final int CHALLENGE_LENGTH = FRESH_OFFSET + HelloDescriptor.FRESH_LENGTH;
    static final int MAC_OFFSET = HelloDescriptor.PREFIX_LENGTH;
    public static final int PROOF_LENGTH = MAC_OFFSET + HelloDescriptor.MAC_LENGTH;

    private ProofDescriptor() {}

    public static void writeChallenge(ByteBuf out, long freshHigh, long freshLow, WireChecksum checksum) {
        final int at = out.writerIndex();
        out.writeLongLE(HelloDescriptor.MAGIC).writeIntLE(0).writeIntLE(CHALLENGE_LENGTH);
        out.writeIntLE(HelloDescriptor.VERSION).writeIntLE(STATUS_CHALLENGE);
        out.writeLongLE(freshHigh).writeLongLE(freshLow);
        HelloDescriptor.seal(out, at, checksum);
    }

    public static void writeProof(ByteBuf out, byte[] mac, WireChecksum checksum) {
        final int at = out.writerIndex();
        out.writeLongLE(HelloDescriptor.MAGIC).writeIntLE(0).writeIntLE(PROOF_LENGTH);
        out.writeIntLE(HelloDescriptor.VERSION).writeIntLE(PeerAuthentication.METHOD_SECRET);
        out.writeBytes(mac);
        HelloDescriptor.seal(out, at, checksum);
    }

    /** Whether a whole frame from a called server is a challenge; else it is a welcome. */
    public static boolean isChallenge(ByteBuf in) {
        return in.getIntLE(in.readerIndex() + STATUS_OFFSET) == STATUS_CHALLENGE;
    }

    /** Checks a whole challenge; it is read, and its bytes stay where they are. */
    public static void readChallenge(ByteBuf in, WireChecksum checksum) throws WireException {
        final int length = HelloDescriptor.checkedLength(in, checksum);
        if (length != CHALLENGE_LENGTH) {
            throw new WireException(WireFault.BAD_LENGTH, "a challenge of " + length + " bytes");
        }
        in.skipBytes(length);
    }

    /** Reads a whole proof: its MAC. */
    public static byte[] readProof(ByteBuf in, WireChecksum checksum) throws WireException {
        final int length = HelloDescriptor.checkedLength(in, checksum);
        final int at = in.readerIndex();
        final int method = in.getIntLE(at + METHOD_OFFSET);
        if (length != PROOF_LENGTH || method != PeerAuthentication.METHOD_SECRET) {
            throw new WireException(WireFault.BAD_FRAME, "a proof of " + length + " bytes by method " + method);
        }
        final byte[] mac = new byte[HelloDescriptor.MAC_LENGTH];
        in.getBytes(at + MAC_OFFSET, mac);
        in.skipBytes(length);
        return mac;
    }
}
