package org.rowankv.rdma.tcp.wire;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import javax.crypto.Mac;
import org.rowankv.rdma.secret.ClusterSecret;

/**
 * The MACs of one handshake (docs/design/22). Both ends make one from the same hello and challenge, so from the version,
 * the method, the kind of link, both servers, both incarnations, the term and both fresh nonces. The directions have
 * labels of their own: a MAC that is sent back proves nothing. For one thread.
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

    /** Of the two frames, each whole and with its length; they stay as they are. */
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

    /** Puts the called server's MAC into a welcome that stands at that index without one, and seals it. */
    public void sign(ByteBuf welcome, int at, WireChecksum checksum) {
        welcome.setBytes(at + HelloDescriptor.MAC_OFFSET, ofCalled(welcome, at));
        HelloDescriptor.seal(welcome, at, checksum);
    }

    /** Whether a welcome that stands at that index carries the called server's MAC. */
    public boolean isOfCalled(ByteBuf welcome, int at) {
        final byte[] mac = new byte[HelloDescriptor.MAC_LENGTH];
        welcome.getBytes(at + HelloDescriptor.MAC_OFFSET, mac);
        return ClusterSecret.isSame(ofCalled(welcome, at), mac);
    }

    /** Over all of the welcome but its MAC, and its crc, which follows from the rest. */
    private byte[] ofCalled(ByteBuf welcome, int at) {
        final Mac mac = begin(CALLED);
        final int length = welcome.getIntLE(at + HelloDescriptor.LENGTH_OFFSET);
        update(mac, welcome, at + HelloDescriptor.LENGTH_OFFSET, at + HelloDescriptor.MAC_OFFSET);
        update(mac, welcome, at + HelloDescriptor.WELCOME_LENGTH, at + length);
        return mac.doFinal();
    }

    private static void update(Mac mac, ByteBuf bytes, int from, int to) {
        mac.update(bytes.nioBuffer(from, to - from));
    }

    private Mac begin(byte[] label) {
        final Mac mac = secret.begin(ClusterSecret.Purpose.HANDSHAKE);
        mac.update(label);
        mac.update(transcript);
        return mac;
    }
}
