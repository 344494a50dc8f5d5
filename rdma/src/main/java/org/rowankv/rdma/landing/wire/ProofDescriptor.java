package org.rowankv.rdma.landing.wire;

import java.nio.ByteBuffer;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;

/**
 * Layout of the two frames between hello and welcome where the hello's method is the secret, behind the prefix of
 * {@link HandshakeDescriptor}. Little-endian.
 *
 * <pre>
 *   challenge, from the called server; code: 255
 *   24            40
 *   +-------------+
 *   | fresh nonce |
 *   +-------------+
 *
 *   proof, from the caller; code: the method
 *   24            56
 *   +-------------+
 *   | MAC         |
 *   +-------------+
 * </pre>
 */
public final class ProofDescriptor {
    /** In place of a welcome's status. */
    static final int STATUS_CHALLENGE = 255;

    static final int FRESH_OFFSET = HandshakeDescriptor.PREFIX_LENGTH;
    public static final int CHALLENGE_LENGTH = FRESH_OFFSET + PeerHandshakeDescriptor.FRESH_LENGTH;
    public static final int PROOF_LENGTH = HandshakeDescriptor.MAC_OFFSET + HandshakeDescriptor.MAC_LENGTH;

    private ProofDescriptor() {}

    public static ByteBuffer challenge(long freshHigh, long freshLow) {
        return HandshakeDescriptor.seal(HandshakeDescriptor.frame(WirePort.PEERS, CHALLENGE_LENGTH, STATUS_CHALLENGE)
                .putLong(FRESH_OFFSET, freshHigh)
                .putLong(FRESH_OFFSET + Long.BYTES, freshLow));
    }

    public static ByteBuffer proof(byte[] mac) {
        return HandshakeDescriptor.seal(
                HandshakeDescriptor.frame(WirePort.PEERS, PROOF_LENGTH, PeerAuthentication.METHOD_SECRET)
                        .put(HandshakeDescriptor.MAC_OFFSET, mac));
    }

    /** Whether a complete frame from a called server is a challenge; else it is a welcome, or a refusal. */
    public static boolean isChallenge(ByteBuffer frame) {
        return HandshakeDescriptor.code(frame) == STATUS_CHALLENGE;
    }

    /** Throws unless a complete challenge has its length. */
    public static void checkChallenge(ByteBuffer frame) throws WireException {
        if (frame.limit() != CHALLENGE_LENGTH) {
            throw new WireException(WireFault.BAD_LENGTH, "a challenge of " + frame.limit() + " bytes");
        }
    }

    /** Reads the MAC of a complete proof. */
    public static byte[] readProof(ByteBuffer frame) throws WireException {
        final int method = HandshakeDescriptor.code(frame);
        if (frame.limit() != PROOF_LENGTH || method != PeerAuthentication.METHOD_SECRET) {
            throw new WireException(WireFault.BAD_FRAME, "a proof of " + frame.limit() + " bytes by method " + method);
        }
        final byte[] mac = new byte[HandshakeDescriptor.MAC_LENGTH];
        frame.get(HandshakeDescriptor.MAC_OFFSET, mac);
        return mac;
    }
}
