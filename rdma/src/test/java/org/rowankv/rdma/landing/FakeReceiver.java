package org.rowankv.rdma.landing;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.rdma.landing.wire.HandshakeProof;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.rdma.landing.wire.ProofDescriptor;

/** A scripted receiver on a plain socket; its responses may be wrong. */
final class FakeReceiver implements AutoCloseable {
    private static final int PATIENCE_MS = 60_000;

    private final ServerSocket listener;

    /** One accepted connection. */
    final class Connection implements AutoCloseable {
        private final Socket socket;
        private final DataInputStream in;

        Connection(Socket socket) throws IOException {
            this.socket = socket;
            this.in = new DataInputStream(socket.getInputStream());
        }

        PeerHello hello() throws IOException {
            try {
                return PeerHandshakeDescriptor.readHello(frameOf(handshakeFrame()));
            } catch (WireException e) {
                throw new AssertionError(e);
            }
        }

        /** The next frame of the handshake, as it is. */
        byte[] handshakeFrame() throws IOException {
            final byte[] prefix = in.readNBytes(HandshakeDescriptor.PREFIX_LENGTH);
            final int length = frameOf(prefix).getInt(HandshakeDescriptor.LENGTH_OFFSET);
            final byte[] bytes = Arrays.copyOf(prefix, length);
            in.readFully(bytes, prefix.length, length - prefix.length);
            return bytes;
        }

        /** Sends a challenge; returns its frame. */
        byte[] challenge() throws IOException {
            final byte[] bytes = ProofDescriptor.challenge(5, 6).array();
            send(bytes);
            return bytes;
        }

        /** The MAC of the caller's proof. */
        byte[] proof() throws IOException {
            try {
                return ProofDescriptor.readProof(frameOf(handshakeFrame()));
            } catch (WireException e) {
                throw new AssertionError(e);
            }
        }

        /** Welcomes with that MAC. */
        void welcomeWith(byte[] mac) throws IOException {
            final byte[] out = welcomeBytes().array();
            System.arraycopy(mac, 0, out, HandshakeDescriptor.MAC_OFFSET, mac.length);
            send(RawPeer.sealed(out));
        }

        /** Welcomes as the secret's holder does; then that byte is changed on the way. */
        void welcomeChanged(HandshakeProof proof, int at) throws IOException {
            final byte[] out = proof.sign(welcomeBytes()).array();
            if (at >= 0) {
                out[at] ^= 1;
            }
            send(RawPeer.sealed(out));
        }

        void welcome() throws IOException {
            send(welcomeBytes().array());
        }

        private ByteBuffer welcomeBytes() {
            return PeerHandshakeDescriptor.welcome(
                    new PeerWelcome(1, 1, 4096, 4096, 8, 4096, PeerHandshakeDescriptor.READY));
        }

        void frame(int type, int small, long number, long first, long second, byte... payload) throws IOException {
            send(RawPeer.frame(type, 0, small, number, first, second, payload));
        }

        void send(byte[] bytes) throws IOException {
            socket.getOutputStream().write(bytes);
        }

        /** The type of the next frame, which is dropped; -1 at the end of the stream. */
        int readFrame() throws IOException {
            final byte[] header = in.readNBytes(PeerFrameDescriptor.HEAD_LENGTH);
            if (header.length < PeerFrameDescriptor.HEAD_LENGTH) {
                return -1;
            }
            final ByteBuffer buffer = frameOf(header);
            in.skipNBytes(FrameHeadDescriptor.length(buffer, 0) - PeerFrameDescriptor.HEAD_LENGTH);
            return FrameHeadDescriptor.type(buffer, 0);
        }

        /** Sends nothing more, and waits until the other end has received all and closed. */
        void finish() throws IOException {
            socket.shutdownOutput();
            while (readFrame() >= 0) {
                // The stream ends, in whatever way.
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    FakeReceiver() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        listener.setSoTimeout(PATIENCE_MS); // a missing frame must not hang the test
    }

    private static ByteBuffer frameOf(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listener.getLocalSocketAddress();
    }

    Connection accept() throws IOException {
        return new Connection(listener.accept());
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
