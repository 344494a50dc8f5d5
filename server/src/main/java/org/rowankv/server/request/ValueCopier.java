package org.rowankv.server.request;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/** Copies the value of a present object, while the cleaner may move it. */
final class ValueCopier {
    private ValueCopier() {}

    /**
     * The caller holds the key's lock, so the entry exists and stays the newest.
     *
     * @return the array used, or null if the entry is malformed: it was damaged since the caller found it
     */
    static byte @Nullable [] read(
            Segments segments, ShardReplica shard, long position, Request request, byte[] scratch) {
        long refused = 0;
        while (true) {
            final long address = shard.findLikely(position, refused, request);
            if (address == 0) {
                throw new AssertionError("an object under its key's lock is gone");
            }
            final int segment = segments.segmentOf(address);
            final int generation = segments.generation(segment);
            if (!shard.refers(position, address, request)) {
                refused = address;
                continue;
            }
            final ByteBuffer buffer = segments.region().buffer(address);
            final int at = segments.region().offset(address);
            final int length = FrameDescriptor.length(FrameDescriptor.wordAcquire(buffer, at));
            if (at + length > buffer.capacity() || EntryDescriptor.whyMalformed(buffer, at, length) != null) {
                VarHandle.acquireFence();
                if (segments.generation(segment) == generation && shard.refers(position, address, request)) {
                    segments.damage().suspect(segment, generation);
                    return null;
                }
                continue;
            }
            final int valueLength = EntryDescriptor.valueLength(buffer, at);
            final int valueAt = at
                    + EntryDescriptor.headerLength(EntryDescriptor.flags(buffer, at))
                    + EntryDescriptor.keyLength(buffer, at);
            final byte[] target = scratch.length >= valueLength ? scratch : new byte[valueLength];
            buffer.get(valueAt, target, 0, valueLength);
            VarHandle.acquireFence();
            if (segments.generation(segment) == generation) {
                return target;
            }
        }
    }
}
