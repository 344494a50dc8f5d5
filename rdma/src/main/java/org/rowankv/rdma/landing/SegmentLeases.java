package org.rowankv.rdma.landing;

import io.netty.channel.Channel;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;

/**
 * What an endpoint has beside its queue pairs if senders place their entries themselves: the leases of its segments. On
 * the NIC agent's event loop.
 */
public interface SegmentLeases {

    /** A sender's connection for leases, which is admitted: returns its reader. One of the same server before it is fenced. */
    FrameReader accept(PeerHello hello, Channel channel);

    /** The sender has its welcome. */
    void welcomed(FrameReader reader);

    /** The last connection of that server whose WRITEs have ended; 0 if there is none, or another one lives. */
    long endedConnection(int serverId);

    /** The position up to which its entries landed. */
    long endedAt(int serverId);

    /** Checks its connections for silence. */
    void tick(long nowNs, long heartbeatNs, long idleNs);

    /** Ends all connections: no sender writes any more. Any thread. */
    void close();
}
