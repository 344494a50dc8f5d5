package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.rowankv.rdma.tcp.wire.HandshakeProof;
import org.rowankv.rdma.tcp.wire.HelloDescriptor;
import org.rowankv.rdma.tcp.wire.HelloDescriptor.Hello;
import org.rowankv.rdma.tcp.wire.HelloDescriptor.Welcome;
import org.rowankv.rdma.tcp.wire.ProofDescriptor;
import org.rowankv.rdma.tcp.wire.WireChecksum;
import org.rowankv.rdma.tcp.wire.WireDescriptor;
import org.rowankv.rdma.tcp.wire.WireException;

/** A receiver on a plain socket, which answers what it is told to, whether or not that is right. */
final class FakeReceiver implements AutoCloseable {
    private static final int PATIENCE_MS = 60_000;

    private final WireChecksum checksum = new WireChecksum();
    private final ServerSocket listener;

    /** One connection that somebody opened to it. */
    final class Connection implements AutoCloseable {
        private final Socket socket;
        private final DataInputStream in;

        Connection(Socket socket) throws IOException {
            this.socket = socket;
            this.in = new DataInputStream(socket.getInputStream());
        }

        Hello hello() throws IOException {
            try {
                return HelloDescriptor.readHello(Unpooled.wrappedBuffer(handshakeFrame()), checksum);
            } catch (WireException e) {
                throw new AssertionError(e);
            }
        }

        /** The next frame of the handshake, as it is. */
        byte[] handshakeFrame() throws IOException {
            final ByteBuf all = Unpooled.buffer().writeBytes(in.readNBytes(HelloDescriptor.PREFIX_LENGTH));
            all.writeBytes(in.readNBytes(all.getIntLE(HelloDescriptor.LENGTH_OFFSET) - HelloDescriptor.PREFIX_LENGTH));
            final byte[] bytes = new byte[all.readableBytes()];
            all.readBytes(bytes);
            return bytes;
        }

        /** Sends a challenge; returns its frame. */
        byte[] challenge() throws IOException {
            final ByteBuf out = Unpooled.buffer();
            ProofDescriptor.writeChallenge(out, 5, 6, checksum);
            final byte[] bytes = new byte[out.readableBytes()];
            out.getBytes(0, bytes);
            send(bytes);
            return bytes;
        }

        /** The MAC of the caller's proof. */
        byte[] proof() throws IOException {
            try {
                return ProofDescriptor.readProof(Unpooled.wrappedBuffer(handshakeFrame()), checksum);
            } catch (WireException e) {
                throw new AssertionError(e);
            }
        }

        /** Welcomes with that MAC. */
        void welcomeWith(byte[] mac) throws IOException {
            final ByteBuf out = welcomeBytes();
            out.setBytes(HelloDescriptor.MAC_OFFSET, mac);
            HelloDescriptor.seal(out, 0, checksum);
            send(out);
        }

        /** Welcomes as the secret's holder does; then that byte is changed on the way. */
        void welcomeChanged(HandshakeProof proof, int at) throws IOException {
            final ByteBuf out = welcomeBytes();
            proof.sign(out, 0, checksum);
            if (at >= 0) {
                out.setByte(at, out.getByte(at) ^ 1);
                HelloDescriptor.seal(out, 0, checksum);
            }
            send(out);
        }

        void welcome() throws IOException {
            send(welcomeBytes());
        }

        private ByteBuf welcomeBytes() {
            final ByteBuf out = Unpooled.buffer();
            HelloDescriptor.write(
                    out,
                    new Welcome(HelloDescriptor.VERSION, 0, 1, 1, 4096, 4096, 8, 4096, HelloDescriptor.READY, ""),
                    checksum);
            return out;
        }

        void frame(int type, int small, long number, long first, long second, byte... payload) throws IOException {
            final ByteBuf out = Unpooled.buffer();
            WireDescriptor.header(out, type, 0, payload.length, small, number, first, second, checksum);
            send(out.writeBytes(payload));
        }

        private void send(ByteBuf out) throws IOException {
            out.readBytes(socket.getOutputStream(), out.readableBytes());
        }

        void send(byte[] bytes) throws IOException {
            socket.getOutputStream().write(bytes);
        }

        /** The type of the next frame, which is read and forgotten; -1 at the end of the stream. */
        int readFrame() throws IOException {
            final byte[] header = in.readNBytes(WireDescriptor.HEADER_LENGTH);
            if (header.length < WireDescriptor.HEADER_LENGTH) {
                return -1;
            }
            final ByteBuf buffer = Unpooled.wrappedBuffer(header);
            in.skipNBytes(WireDescriptor.length(buffer, 0) - WireDescriptor.HEADER_LENGTH);
            return WireDescriptor.type(buffer, 0);
        }

        /** Says nothing more, and waits until the other end, which has heard all, has closed. */
        void finish() throws IOException {
            socket.shutdownOutput();
            while (readFrame() >= 0) {
                // It is over when it ends.
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    FakeReceiver() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        listener.setSoTimeout(PATIENCE_MS); // what nobody says any more must not hang its test
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
