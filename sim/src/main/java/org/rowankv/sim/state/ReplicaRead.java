package org.rowankv.sim.state;

import java.nio.ByteBuffer;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * Direct read of an object from a replica, independent of the primary: for checkers that test whether a replica has
 * what another one lost.
 */
public final class ReplicaRead {
    private static final int LOCK_OWNER = 1 << 22;

    private ReplicaRead() {}

    /**
     * Answers a read by the newest intact entry of its key at that server; false if there is none.
     *
     * @param nowMs the time that ends lifetimes there
     */
    public static boolean answer(Request request, Server server, long nowMs) {
        final Segments segments = server.segments();
        final MemoryRegion region = segments.region();
        final ShardReplica replica = server.replicas().get(request.shard());
        final EntryCheck check = new EntryCheck(region);
        replica.index().lock(LOCK_OWNER);
        try {
            final long position = replica.positionOf(request.hash());
            long address = replica.index().candidate(position, 0);
            for (int n = 1; address != 0; n++) {
                final int segment = segments.segmentOf(address);
                final long end = segments.area().addressOf(segment) + segments.length();
                final ByteBuffer buffer = region.buffer(address);
                final int at = region.offset(address);
                if (check.whyInvalid(address, end, segments.generation(segment)) == null
                        && isOf(request, replica, buffer, at)) {
                    answer(request, buffer, at, nowMs);
                    return true;
                }
                address = replica.index().candidate(position, n);
            }
        } finally {
            replica.index().unlock();
        }
        return false;
    }

    private static boolean isOf(Request request, ShardReplica replica, ByteBuffer buffer, int at) {
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(buffer, at));
        if (!EntryType.holdsObject(type)
                || EntryDescriptor.cacheId(buffer, at) != request.cacheId()
                || EntryDescriptor.keyLength(buffer, at) != request.keyLength()
                || !replica.isVisible(type, request.cacheId(), EntryDescriptor.version(buffer, at))) {
            return false;
        }
        final byte[] key = new byte[request.keyLength()];
        buffer.get(at + EntryDescriptor.headerLength(EntryDescriptor.flags(buffer, at)), key);
        return ByteBuffer.wrap(key).equals(ByteBuffer.wrap(request.key(), request.keyOffset(), request.keyLength()));
    }

    private static void answer(Request request, ByteBuffer buffer, int at, long nowMs) {
        final int flags = EntryDescriptor.flags(buffer, at);
        final int length = EntryDescriptor.valueLength(buffer, at);
        request.clearAnswer();
        final long expiryMs = EntryDescriptor.expiryMs(buffer, at, flags);
        if (expiryMs != Long.MAX_VALUE && expiryMs <= nowMs) {
            request.answer(Status.NOT_FOUND, 0, 0, 0);
            return;
        }
        buffer.get(
                at + EntryDescriptor.headerLength(flags) + EntryDescriptor.keyLength(buffer, at),
                request.resultOf(length),
                0,
                length);
        request.answer(Status.OK, ResultBits.EXISTED, EntryDescriptor.objectVersion(buffer, at, flags), 0);
    }
}
