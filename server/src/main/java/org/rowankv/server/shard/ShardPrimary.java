package org.rowankv.server.shard;

import org.rowankv.protocol.VersionCounter;

/** A shard whose primary this server is: its replica here, and the versions it gives out. */
public record ShardPrimary(ShardReplica replica, VersionCounter versions) {}
