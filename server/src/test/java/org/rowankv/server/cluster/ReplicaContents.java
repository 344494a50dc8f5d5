package org.rowankv.server.cluster;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.shard.ShardReplica;

/** The content of one replica. */
final class ReplicaContents {
    private static final int LOCK_OWNER = 1 << 26;

    private ReplicaContents() {}

    /** The visible objects: by cache and key, their version, length and checksum. */
    static Map<String, String> of(Server server, int shard) {
        final ShardReplica replica = server.replicas().get(shard);
        final MemoryRegion region = server.segments().region();
        final Map<String, String> objects = new HashMap<>();
        long position = 0;
        do {
            replica.index().lock(LOCK_OWNER);
            try {
                position = replica.index().visit(position, address -> {
                    final ByteBuffer buffer = region.buffer(address);
                    final int at = region.offset(address);
                    final int cacheId = EntryDescriptor.cacheId(buffer, at);
                    final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(buffer, at));
                    if (replica.isVisible(type, cacheId, EntryDescriptor.version(buffer, at))) {
                        final byte[] key = new byte[EntryDescriptor.keyLength(buffer, at)];
                        buffer.get(at + EntryDescriptor.headerLength(EntryDescriptor.flags(buffer, at)), key);
                        objects.put(
                                cacheId + ":" + new String(key, StandardCharsets.ISO_8859_1),
                                EntryDescriptor.version(buffer, at) + "/" + EntryDescriptor.valueLength(buffer, at)
                                        + "/" + FrameDescriptor.bodyCrc(buffer, at));
                    }
                });
            } finally {
                replica.index().unlock();
            }
        } while (position != 0);
        return objects;
    }
}
