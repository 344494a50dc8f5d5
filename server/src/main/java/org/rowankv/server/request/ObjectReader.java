package org.rowankv.server.request;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.ShardReplica;

/**
 * GET: finds the newest entry in the index and copies the value out of the log. Takes no lock, allocates nothing,
 * writes no shared memory but, in a cache with a limit, a mark of an object that has none. Stateless, so any number of threads may use one.
 *
 * <p>What it reads can be freed and reused under it; the order of looks makes that visible: item, generation, item again
 * (so the generation is that of the use the item means), the bytes, the generation again.
 */
public final class ObjectReader {
    private final Segments segments;
    private final Clock clock;
    private final ErrorLog errors;
    private final @Nullable ReadCheck check;
    private final LimitedCaches limits;

    /** @param check of every entry read, or null: entries were checked when they came and are when they are moved */
    public ObjectReader(
            Segments segments, Clock clock, ErrorLog errors, @Nullable ReadCheck check, LimitedCaches limits) {
        this.limits = limits;
        this.segments = segments;
        this.clock = clock;
        this.errors = errors;
        this.check = check;
    }

    /**
     * Answers a GET.
     *
     * @param missVersion the shard's newest version, read by the caller before: what a miss answers
     * @return false when the object's lifetime is over: then its expiry must be logged before there is an answer
     */
    public boolean get(ShardReplica shard, Request request, long missVersion) {
        final long position = shard.positionOf(request.hash());
        long refused = 0;
        while (true) {
            final long address = shard.index()
                    .findLikely(
                            position,
                            refused,
                            request.cacheId(),
                            request.key(),
                            request.keyOffset(),
                            request.keyLength());
            if (address == 0) {
                return answerMiss(shard, request, missVersion);
            }
            final int segment = segments.segmentOf(address);
            final int generation = segments.generation(segment);
            if (!shard.index()
                    .refers(
                            position,
                            address,
                            request.cacheId(),
                            request.key(),
                            request.keyOffset(),
                            request.keyLength())) {
                refused = address;
                continue;
            }
            final ByteBuffer buffer = segments.region().buffer(address);
            final int at = segments.region().offset(address);
            final long word = FrameDescriptor.wordAcquire(buffer, at);
            final int flags = EntryDescriptor.flags(buffer, at);
            final int valueLength = EntryDescriptor.valueLength(buffer, at);
            final int valueAt = at + EntryDescriptor.headerLength(flags) + EntryDescriptor.keyLength(buffer, at);
            if (FrameDescriptor.generation(word) != generation
                    || valueLength < 0
                    || valueAt < at
                    || valueAt - at > FrameDescriptor.length(word) - valueLength
                    || valueAt > buffer.capacity() - valueLength) {
                continue;
            }
            final long version = EntryDescriptor.version(buffer, at);
            final long objectVersion = EntryDescriptor.objectVersion(buffer, at, flags);
            final long expiryMs = EntryDescriptor.expiryMs(buffer, at, flags);
            final boolean visible = shard.isVisible(FrameDescriptor.type(word), request.cacheId(), version);
            final boolean live = visible && (expiryMs == Long.MAX_VALUE || clock.wallMs() < expiryMs);
            if (live && request.wantsValue()) {
                buffer.get(valueAt, request.resultOf(valueLength), 0, valueLength);
            }
            Chaos.point("read.copied");
            final String reason = check == null ? null : check.whyInvalid(segment, address, generation);
            VarHandle.acquireFence();
            if (segments.generation(segment) != generation) {
                request.noResult();
                continue;
            }
            if (reason != null) {
                return answerCorrupted(request, segment, address, reason);
            }
            if (!visible) {
                return answerMiss(shard, request, missVersion);
            }
            if (live) {
                if (limits.find(request.cacheId()) != null) {
                    shard.index().mark(position, address);
                }
                request.answer(Status.OK, org.rowankv.protocol.ResultBits.EXISTED, objectVersion, 0);
            }
            return live;
        }
    }

    private boolean answerCorrupted(Request request, int segment, long address, String reason) {
        errors.report(
                "reading segment " + segment + " at "
                        + (address - segments.area().addressOf(segment)),
                new IllegalStateException(reason));
        request.noResult();
        request.answer(Status.CORRUPTED, 0, 0, 0);
        return true;
    }

    private static boolean answerMiss(ShardReplica shard, Request request, long missVersion) {
        request.answer(
                shard.clears().isDestroyed(request.cacheId()) ? Status.UNKNOWN_CACHE : Status.NOT_FOUND,
                0,
                missVersion,
                0);
        return true;
    }
}
