package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.rowankv.rdma.tcp.HelloDescriptor.Hello;
import org.rowankv.rdma.tcp.HelloDescriptor.Welcome;

/** A receiver on a plain socket, which answers what it is told to, whether or not that is right. */
final class FakeReceiver implements AutoCloseable {
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
            final ByteBuf all = Unpooled.buffer().writeBytes(in.readNBytes(HelloDescriptor.PREFIX_LENGTH));
            all.writeBytes(in.readNBytes(all.getIntLE(HelloDescriptor.LENGTH_OFFSET) - HelloDescriptor.PREFIX_LENGTH));
            try {
                return HelloDescriptor.readHello(all, checksum);
            } catch (WireException e) {
                throw new AssertionError(e);
            }
        }

        void welcome() throws IOException {
            final ByteBuf out = Unpooled.buffer();
            HelloDescriptor.write(
                    out,
                    new Welcome(HelloDescriptor.VERSION, 0, 1, 1, 4096, 4096, 8, 4096, HelloDescriptor.READY, ""),
                    checksum);
            send(out);
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
