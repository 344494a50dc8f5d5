package org.rowankv.rdma.landing;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.HandshakeInput;
import org.rowankv.protocol.frame.WireChecksum;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.landing.wire.HandshakeProof;
import org.rowankv.rdma.landing.wire.PeerAuthentication;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.rdma.landing.wire.ProofDescriptor;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.runtime.SecureSeed;

/** A scripted peer on a plain socket; its frames may be wrong. */
public final class RawPeer implements AutoCloseable {
    /** Whether the peer was welcomed, with the reason of a refusal. */
    record Answer(int status, String text) {}

    /** A received frame. */
    record Frame(int type, int flags, int small, long number, long first, long second, byte[] payload) {}

    /** Of the servers in tests that have one. */
    public static final ClusterSecret SECRET = ClusterSecret.of("the test", "0123456789abcdef0123456789abcdef");

    private final Socket socket;
    private final DataInputStream in;
    private final ReadableByteChannel channel;

    RawPeer(InetSocketAddress address) throws IOException {
        socket = new Socket(address.getAddress(), address.getPort());
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
        channel = Channels.newChannel(in);
    }

    public static PeerHello hello(int kind, int from, int to, long pair, long nonce, long... live) {
        return new PeerHello(
                kind,
                TestServer.CLUSTER,
                from,
                to,
                1,
                kind == PeerHandshakeDescriptor.KIND_MESSAGES ? 0 : 1,
                1,
                nonce,
                pair,
                16384,
                live);
    }

    /** A peer that is welcome as server 2's queue pair to server 1. */
    static RawPeer queuePair(InetSocketAddress address, long pair, long nonce, long... live) throws IOException {
        final RawPeer peer = new RawPeer(address);
        final Answer welcome = peer.greet(hello(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, pair, nonce, live));
        if (welcome.status() != 0) {
            throw new AssertionError(welcome);
        }
        return peer;
    }

    Answer greet(PeerHello hello) throws IOException {
        send(bytes(hello));
        return welcome();
    }

    public static byte[] bytes(PeerHello hello) {
        return PeerHandshakeDescriptor.hello(hello, PeerAuthentication.none()).array();
    }

    /** A hello by the secret's method. */
    static byte[] proving(int kind, int from, int to, long pair, long nonce) {
        return PeerHandshakeDescriptor.hello(
                        hello(kind, from, to, pair, nonce), PeerAuthentication.of(SECRET, SecureSeed::next))
                .array();
    }

    /** Sends that hello and reads the challenge; returns the transcript that both ends prove. */
    HandshakeProof challenged(byte[] frame) throws IOException {
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

    Answer prove(byte[] mac) throws IOException {
        send(proofBytes(mac));
        return welcome();
    }

    static byte[] proofBytes(byte[] mac) {
        return ProofDescriptor.proof(mac).array();
    }

    /** The crc of a handshake's frame that was changed. */
    static byte[] sealed(byte[] frame) {
        return HandshakeDescriptor.seal(ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN))
                .array();
    }

    /** Sends that hello, with the proof of a holder of the secret. */
    Answer greetWithSecret(byte[] hello) throws IOException {
        return prove(challenged(hello).ofCaller());
    }

    Answer welcome() throws IOException {
        return answerAt(WirePort.PEERS);
    }

    /** Reads a welcome, and requires the other end's MAC in it. */
    Answer welcomeWith(HandshakeProof proof) throws IOException {
        return readAnswer(WirePort.PEERS, proof);
    }

    /** The answer to a caller of that port. */
    Answer answerAt(WirePort port) throws IOException {
        return readAnswer(port, null);
    }

    private Answer readAnswer(WirePort port, @Nullable HandshakeProof proof) throws IOException {
        final HandshakeInput input = new HandshakeInput(port, false, HandshakeDescriptor.MAX_REFUSAL);
        try {
            while (!input.isComplete()) {
                if (input.readFrom(channel) < 0) {
                    throw new EOFException();
                }
            }
            final ByteBuffer frame = input.frame();
            if (proof != null && !proof.isOfCalled(frame)) {
                throw new AssertionError("the welcome has no MAC, or a wrong one");
            }
            final int status = HandshakeDescriptor.code(frame);
            if (status == HandshakeDescriptor.ACCEPTED) {
                PeerHandshakeDescriptor.readWelcome(frame);
                return new Answer(status, "");
            }
            return new Answer(status, HandshakeDescriptor.text(frame));
        } catch (WireException e) {
            throw new AssertionError(e);
        }
    }

    byte[] frame(int type, int small, long number, long first, long second, byte... payload) {
        return frame(type, 0, small, number, first, second, payload);
    }

    /** The bytes of a frame, with right checksums. */
    public static byte[] frame(int type, int flags, int small, long number, long first, long second, byte[] payload) {
        final ByteBuffer out = ByteBuffer.allocate(PeerFrameDescriptor.HEAD_LENGTH + payload.length)
                .order(ByteOrder.LITTLE_ENDIAN);
        PeerFrameDescriptor.head(out, 0, type, flags, payload.length, small, number, first, second, new WireChecksum());
        return out.put(PeerFrameDescriptor.HEAD_LENGTH, payload).array();
    }

    /** A SEND of that body. */
    byte[] sendFrame(long number, int tag, byte[] body) {
        final int crc = crc(body);
        return frame(PeerFrameDescriptor.SEND, tag, number, crc & 0xFFFF_FFFFL, 7, body);
    }

    int crc(byte[] payload) {
        return new WireChecksum().of(ByteBuffer.wrap(payload), 0, payload.length);
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
        final ByteBuffer header =
                ByteBuffer.wrap(readFully(PeerFrameDescriptor.HEAD_LENGTH)).order(ByteOrder.LITTLE_ENDIAN);
        final byte[] payload = readFully(FrameHeadDescriptor.length(header, 0) - PeerFrameDescriptor.HEAD_LENGTH);
        return new Frame(
                FrameHeadDescriptor.type(header, 0),
                FrameHeadDescriptor.flags(header, 0),
                FrameHeadDescriptor.small(header, 0),
                FrameHeadDescriptor.number(header, 0),
                PeerFrameDescriptor.first(header, 0),
                PeerFrameDescriptor.second(header, 0),
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
        while (frame.type() != PeerFrameDescriptor.ACK || frame.number() < number) {
            frame = read();
        }
        return frame;
    }

    /** Waits until the other end has closed the connection or fenced it; returns the type of the last frame, 0 if there was none. */
    int awaitEnd() {
        int last = 0;
        try {
            while (last != PeerFrameDescriptor.FENCED) {
                last = read().type();
            }
            // FENCED is the last frame; the other end waits for this end to close.
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
