package org.rowankv.rdma.landing.wire;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Addresses where servers listen for servers. For any thread; read at every attempt to connect, so they may change. */
public interface PeerAddresses {

    /** The address, resolved or not, or null if no such server is known. */
    @Nullable
    InetSocketAddress addressOf(int serverId);
}
