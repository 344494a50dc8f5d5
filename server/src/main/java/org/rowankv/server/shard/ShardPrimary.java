package org.rowankv.server.shard;

import org.rowankv.protocol.VersionCounter;

/** A shard whose primary this server is: its local replica and its version counter. */
public record ShardPrimary(ShardReplica replica, VersionCounter versions) {}
