package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.rdma.tcp.wire.HandshakeProof;
import org.rowankv.rdma.tcp.wire.HelloDescriptor;
import org.rowankv.rdma.tcp.wire.HelloDescriptor.Hello;
import org.rowankv.rdma.tcp.wire.HelloDescriptor.Welcome;
import org.rowankv.rdma.tcp.wire.PeerAuthentication;
import org.rowankv.rdma.tcp.wire.ProofDescriptor;
import org.rowankv.rdma.tcp.wire.WireChecksum;
import org.rowankv.rdma.tcp.wire.WireDescriptor;
import org.rowankv.rdma.tcp.wire.WireException;
import org.rowankv.runtime.SecureSeed;

/** A peer on a plain socket, which says what it is told to, whether or not that is right. */
public final class RawPeer implements AutoCloseable {
    /** A frame that came. */
    record Frame(int type, int flags, int small, long number, long first, long second, byte[] payload) {}

    /** Of the servers in tests that have one. */
    static final ClusterSecret SECRET = ClusterSecret.of("the test", "0123456789abcdef0123456789abcdef");

    private final WireChecksum checksum = new WireChecksum();
    private final Socket socket;
    private final DataInputStream in;

    RawPeer(InetSocketAddress address) throws IOException {
        socket = new Socket(address.getAddress(), address.getPort());
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
    }

    public static Hello hello(int kind, int from, int to, long pair, long nonce, long... live) {
        return new Hello(
                kind,
                TestServer.CLUSTER,
                from,
                to,
                1,
                kind == HelloDescriptor.KIND_MESSAGES ? 0 : 1,
                1,
                nonce,
                pair,
                16384,
                live,
                PeerAuthentication.METHOD_NONE,
                0,
                0);
    }

    /** A peer that is welcome as server 2's queue pair to server 1. */
    static RawPeer queuePair(InetSocketAddress address, long pair, long nonce, long... live) throws IOException {
        final RawPeer peer = new RawPeer(address);
        final Welcome welcome = peer.greet(hello(HelloDescriptor.KIND_QUEUE_PAIR, 2, 1, pair, nonce, live));
        if (welcome.status() != 0) {
            throw new AssertionError(welcome);
        }
        return peer;
    }

    Welcome greet(Hello hello) throws IOException {
        send(bytes(hello));
        return welcome();
    }

    byte[] bytes(Hello hello) {
        final ByteBuf out = Unpooled.buffer();
        HelloDescriptor.write(out, hello, checksum);
        return take(out);
    }

    /** A hello by the secret's method. */
    static Hello proving(int kind, int from, int to, long pair, long nonce) {
        return hello(kind, from, to, pair, nonce).provedBy(PeerAuthentication.of(SECRET, SecureSeed::next));
    }

    /** Says that hello and reads the challenge; returns what both ends may prove then. */
    HandshakeProof challenged(Hello hello) throws IOException {
        final byte[] frame = bytes(hello);
        send(frame);
        return proofOf(frame, challengeFrame());
    }

    byte[] challengeFrame() throws IOException {
        return readFully(ProofDescriptor.CHALLENGE_LENGTH);
    }

    /** Of the two frames, by a peer with the secret. */
    static HandshakeProof proofOf(byte[] hello, byte[] challenge) {
        return HandshakeProof.of(SECRET, ByteBuffer.wrap(hello), ByteBuffer.wrap(challenge));
    }

    Welcome prove(byte[] mac) throws IOException {
        send(proofBytes(mac));
        return welcome();
    }

    byte[] proofBytes(byte[] mac) {
        final ByteBuf out = Unpooled.buffer();
        ProofDescriptor.writeProof(out, mac, checksum);
        return take(out);
    }

    /** Says that hello, and proves it as the secret's holder does. */
    Welcome greetWithSecret(Hello hello) throws IOException {
        return prove(challenged(hello).ofCaller());
    }

    Welcome welcome() throws IOException {
        return readWelcome(null);
    }

    /** Reads a welcome, and requires the other end's MAC in it. */
    Welcome welcomeWith(HandshakeProof proof) throws IOException {
        return readWelcome(proof);
    }

    private Welcome readWelcome(@Nullable HandshakeProof proof) throws IOException {
        final byte[] prefix = in.readNBytes(HelloDescriptor.PREFIX_LENGTH);
        if (prefix.length < HelloDescriptor.PREFIX_LENGTH) {
            throw new EOFException();
        }
        final ByteBuf all = Unpooled.buffer().writeBytes(prefix);
        all.writeBytes(in.readNBytes(all.getIntLE(HelloDescriptor.LENGTH_OFFSET) - prefix.length));
        if (proof != null && !proof.isOfCalled(all, 0)) {
            throw new AssertionError("the welcome has no MAC, or a wrong one");
        }
        try {
            return HelloDescriptor.readWelcome(all, checksum);
        } catch (WireException e) {
            throw new AssertionError(e);
        }
    }

    byte[] frame(int type, int small, long number, long first, long second, byte... payload) {
        final ByteBuf out = Unpooled.buffer();
        WireDescriptor.header(out, type, 0, payload.length, small, number, first, second, checksum);
        out.writeBytes(payload);
        return take(out);
    }

    /** A SEND of that body. */
    byte[] sendFrame(long number, int tag, byte[] body) {
        final int crc = checksum.of(Unpooled.wrappedBuffer(body), 0, body.length);
        return frame(WireDescriptor.SEND, tag, number, crc & 0xFFFF_FFFFL, 7, body);
    }

    int crc(byte[] payload) {
        return checksum.of(Unpooled.wrappedBuffer(payload), 0, payload.length);
    }

    private static byte[] take(ByteBuf out) {
        final byte[] bytes = new byte[out.readableBytes()];
        out.readBytes(bytes);
        return bytes;
    }

    void send(byte... bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
    }

    void send(byte[] bytes, int from, int to) throws IOException {
        socket.getOutputStream().write(bytes, from, to - from);
        socket.getOutputStream().flush();
    }

    Frame read() throws IOException {
        final ByteBuf header = Unpooled.wrappedBuffer(readFully(WireDescriptor.HEADER_LENGTH));
        final byte[] payload = readFully(WireDescriptor.length(header, 0) - WireDescriptor.HEADER_LENGTH);
        return new Frame(
                WireDescriptor.type(header, 0),
                WireDescriptor.flags(header, 0),
                WireDescriptor.small(header, 0),
                WireDescriptor.number(header, 0),
                WireDescriptor.first(header, 0),
                WireDescriptor.second(header, 0),
                payload);
    }

    private byte[] readFully(int length) throws IOException {
        final byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException();
        }
        return bytes;
    }

    /** Waits until that many operations are acknowledged. */
    Frame awaitAck(long number) throws IOException {
        Frame frame = read();
        while (frame.type() != WireDescriptor.ACK || frame.number() < number) {
            frame = read();
        }
        return frame;
    }

    /** Waits until the other end has closed the connection, or said its last word; returns the type of the last frame, 0 if there was none. */
    int awaitEnd() {
        int last = 0;
        try {
            while (last != WireDescriptor.FENCED) {
                last = read().type();
            }
            // That was the last word; the other end waits for us to close.
            socket.close();
            return last;
        } catch (EOFException | SocketException e) {
            return last;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The body of an entry of the tests' kind: its identity, its length, filling. */
    static byte[] body(long id, int length) {
        final org.rowankv.rdma.conformance.Entries entries = new org.rowankv.rdma.conformance.Entries();
        final byte[] body = new byte[length - FrameDescriptor.HEADER_LENGTH];
        entries.make(id, length).get(FrameDescriptor.HEADER_LENGTH, body);
        return body;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
