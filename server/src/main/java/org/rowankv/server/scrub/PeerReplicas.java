package org.rowankv.server.scrub;

import java.util.List;

/** The other replicas of this server's shards that can be read from here. Used by one thread. */
@FunctionalInterface
public interface PeerReplicas {
    /** Complete ones only. */
    List<PeerReplica> of(int shard);

    /** A repair is over: what was read for it does not count for the next, whose damage was found later. */
    default void forget() {}
}
