package org.rowankv.server.request;

import org.rowankv.protocol.Request;
import org.rowankv.server.shard.ShardReplica;

/**
 * Where a read has found an object: what {@link ObjectReader#isCurrent} compares later. Immutable and thread-safe.
 *
 * <p>Extended by what is kept with it, so that a check loads one object instead of two.
 */
public class FoundEntry {
    private final ShardReplica replica;
    private final long position;
    private final long address;
    private final long use;
    private final long version;
    private final long expiryMs;
    private final int cacheId;

    /**
     * @param replica of the request's shard, on the server that has answered
     * @param read that {@linkplain Request#isFound found} an object
     */
    protected FoundEntry(ShardReplica replica, Request read) {
        this.replica = replica;
        this.position = replica.positionOf(read.hash());
        this.address = read.foundAddress();
        this.use = read.foundUse();
        this.version = read.foundVersion();
        this.expiryMs = read.foundExpiryMs();
        this.cacheId = read.cacheId();
    }

    /** The replica whose index decides. */
    public final ShardReplica replica() {
        return replica;
    }

    final long position() {
        return position;
    }

    final long address() {
        return address;
    }

    /** The number of the segment's use. */
    final long use() {
        return use;
    }

    /** The version of the entry. */
    final long version() {
        return version;
    }

    /** The end of the lifetime, or {@link Long#MAX_VALUE}. */
    final long expiryMs() {
        return expiryMs;
    }

    final int cacheId() {
        return cacheId;
    }
}
