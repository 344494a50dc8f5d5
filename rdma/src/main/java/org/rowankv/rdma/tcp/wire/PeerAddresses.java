package org.rowankv.rdma.tcp.wire;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Where servers listen for servers. For any thread; asked at every attempt to connect, so it may change its mind. */
public interface PeerAddresses {

    /** The address, resolved or not, or null if no such server is known. */
    @Nullable
    InetSocketAddress addressOf(int serverId);
}
