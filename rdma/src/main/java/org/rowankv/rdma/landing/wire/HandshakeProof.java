package org.rowankv.rdma.landing.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import javax.crypto.Mac;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.rdma.secret.ClusterSecret;

/**
 * The MACs of one handshake (docs/design/fabrics.md). Both ends compute them from the same hello and challenge, so from
 * version, method, kind of link, both servers, both incarnations, the term and both nonces. Each direction has its own
 * label: a MAC sent back proves nothing. For one thread.
 */
public final class HandshakeProof {
    private static final byte[] CALLER = "caller".getBytes(StandardCharsets.UTF_8);
    private static final byte[] CALLED = "called".getBytes(StandardCharsets.UTF_8);

    private final ClusterSecret secret;
    private final byte[] transcript;

    private HandshakeProof(ClusterSecret secret, byte[] transcript) {
        this.secret = secret;
        this.transcript = transcript;
    }

    /** Of the two complete frames with their lengths; unchanged. */
    public static HandshakeProof of(ClusterSecret secret, ByteBuffer hello, ByteBuffer challenge) {
        try {
            final MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(hello.duplicate());
            digest.update(challenge.duplicate());
            return new HandshakeProof(secret, digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** The caller's MAC. */
    public byte[] ofCaller() {
        return begin(CALLER).doFinal();
    }

    public boolean isOfCaller(byte[] mac) {
        return ClusterSecret.isSame(ofCaller(), mac);
    }

    /** Inserts the called server's MAC into a welcome or refusal, and seals it. */
    public ByteBuffer sign(ByteBuffer answer) {
        return HandshakeDescriptor.seal(answer.put(HandshakeDescriptor.MAC_OFFSET, ofCalled(answer)));
    }

    /** Whether a complete welcome or refusal carries the called server's MAC. */
    public boolean isOfCalled(ByteBuffer answer) {
        final byte[] mac = new byte[HandshakeDescriptor.MAC_LENGTH];
        answer.get(HandshakeDescriptor.MAC_OFFSET, mac);
        return ClusterSecret.isSame(ofCalled(answer), mac);
    }

    /** Over all of the response but its MAC, and its crc, which follows from the rest. */
    private byte[] ofCalled(ByteBuffer answer) {
        final Mac mac = begin(CALLED);
        final int behind = HandshakeDescriptor.MAC_OFFSET + HandshakeDescriptor.MAC_LENGTH;
        mac.update(answer.slice(
                HandshakeDescriptor.LENGTH_OFFSET, HandshakeDescriptor.MAC_OFFSET - HandshakeDescriptor.LENGTH_OFFSET));
        mac.update(answer.slice(behind, answer.limit() - behind));
        return mac.doFinal();
    }

    private Mac begin(byte[] label) {
        final Mac mac = secret.begin(ClusterSecret.Purpose.HANDSHAKE);
        mac.update(label);
        mac.update(transcript);
        return mac;
    }
}
