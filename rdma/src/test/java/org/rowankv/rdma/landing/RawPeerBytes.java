package org.rowankv.rdma.landing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;

/** Bytes that a peer may send, for tests that have no connection yet. */
final class RawPeerBytes {
    private static final ServerSocket SILENT_LISTENER = listening();

    private RawPeerBytes() {}

    /** A whole hello of server 2 that opens a queue pair to server 1. */
    static byte[] hello() {
        return RawPeer.bytes(RawPeer.hello(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, 1, 99));
    }

    /** A listener that sends nothing. */
    static InetSocketAddress silentListener() {
        return (InetSocketAddress) SILENT_LISTENER.getLocalSocketAddress();
    }

    private static ServerSocket listening() {
        try {
            return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
