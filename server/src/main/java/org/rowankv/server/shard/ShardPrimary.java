package org.rowankv.server.shard;

import org.rowankv.protocol.VersionCounter;

/** A shard whose primary this server is: its local replica, its version counter, and the parts of its values. */
public record ShardPrimary(ShardReplica replica, VersionCounter versions, ShardParts parts) {
    public ShardPrimary(ShardReplica replica, VersionCounter versions) {
        this(replica, versions, new ShardParts());
    }
}
