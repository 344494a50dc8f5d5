package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import org.rowankv.rdma.tcp.wire.HelloDescriptor;
import org.rowankv.rdma.tcp.wire.WireChecksum;

/** Bytes that a peer may send, for tests that have no connection yet. */
final class RawPeerBytes {
    private static final ServerSocket ANYBODY = listening();

    private RawPeerBytes() {}

    /** A whole hello of server 2 that opens a queue pair to server 1. */
    static byte[] hello() {
        final ByteBuf out = Unpooled.buffer();
        HelloDescriptor.write(out, RawPeer.hello(HelloDescriptor.KIND_QUEUE_PAIR, 2, 1, 1, 99), new WireChecksum());
        final byte[] bytes = new byte[out.readableBytes()];
        out.readBytes(bytes);
        return bytes;
    }

    /** Somebody who listens and says nothing. */
    static InetSocketAddress anybody() {
        return (InetSocketAddress) ANYBODY.getLocalSocketAddress();
    }

    private static ServerSocket listening() {
        try {
            return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
