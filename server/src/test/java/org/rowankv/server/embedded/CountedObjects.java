package org.rowankv.server.embedded;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.shard.ShardReplica;

/** Number of objects of each cache in the index of a shard's replica, counted by a walk over it. */
final class CountedObjects {
    private static final int LOCK_OWNER = (1 << 26) + 1;

    private final Map<Integer, Long> objects = new HashMap<>();
    private final Map<Integer, Long> bytes = new HashMap<>();
    private final Map<Integer, Long> marks = new HashMap<>();
    private final byte[] scratch = new byte[1 << 16];

    CountedObjects(Server server, ShardReplica replica) {
        long position = 0;
        do {
            replica.index().lock(LOCK_OWNER);
            try {
                position = replica.index().visit(position, address -> count(server, replica, address));
            } finally {
                replica.index().unlock();
            }
        } while (position != 0);
    }

    private void count(Server server, ShardReplica replica, long address) {
        final ByteBuffer buffer = server.segments().region().buffer(address);
        final int at = server.segments().region().offset(address);
        final long word = FrameDescriptor.wordPlain(buffer, at);
        if (EntryType.holdsObject(FrameDescriptor.type(word))) {
            final int cache = EntryDescriptor.cacheId(buffer, at);
            objects.merge(cache, 1L, Long::sum);
            bytes.merge(cache, (long) server.segments().charge(FrameDescriptor.length(word)), Long::sum);
            if (replica.index().marks().isMarked(replica.positionOf(buffer, at, scratch), address)) {
                marks.merge(cache, 1L, Long::sum);
            }
        }
    }

    long objects(int cache) {
        return objects.getOrDefault(cache, 0L);
    }

    long bytes(int cache) {
        return bytes.getOrDefault(cache, 0L);
    }

    long marks(int cache) {
        return marks.getOrDefault(cache, 0L);
    }
}
