package org.rowankv.sim.service;

import java.nio.ByteBuffer;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.shard.ShardReplica;

/** Lookup of the object that a server's index shows under a key. */
public final class VisibleObject {
    private VisibleObject() {}

    /** The version of the object that a server's index shows under a key; 0 if there is none. */
    public static long version(Server server, int shard, int cacheId, long hash, byte[] key) {
        final ShardReplica replica = server.replicas().get(shard);
        final long address = replica.index().find(replica.positionOf(hash), cacheId, key, 0, key.length);
        if (address == 0) {
            return Version.NONE;
        }
        final MemoryRegion region = server.segments().region();
        final ByteBuffer buffer = region.buffer(address);
        final int at = region.offset(address);
        final long version = EntryDescriptor.version(buffer, at);
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(buffer, at));
        return replica.isVisible(type, cacheId, version) ? version : Version.NONE;
    }

    /** Whether the object that a server's index shows under a key has a lifetime. */
    public static boolean isMortal(Server server, int shard, int cacheId, long hash, byte[] key) {
        final ShardReplica replica = server.replicas().get(shard);
        final long address = replica.index().find(replica.positionOf(hash), cacheId, key, 0, key.length);
        if (address == 0) {
            return false;
        }
        final ByteBuffer buffer = server.segments().region().buffer(address);
        final int at = server.segments().region().offset(address);
        return EntryDescriptor.expiryMs(buffer, at, EntryDescriptor.flags(buffer, at)) != Long.MAX_VALUE;
    }
}
