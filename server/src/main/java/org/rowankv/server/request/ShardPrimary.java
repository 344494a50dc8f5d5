package org.rowankv.server.request;

import org.rowankv.protocol.VersionCounter;
import org.rowankv.server.shard.ShardReplica;

/** A shard whose primary this server is: its replica here, and the versions it gives out. */
public record ShardPrimary(ShardReplica replica, VersionCounter versions) {}
