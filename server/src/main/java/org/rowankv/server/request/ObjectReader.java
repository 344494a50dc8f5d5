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
import org.rowankv.server.log.ReadCheck;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.ShardReplica;

/**
 * GET: finds the newest entry in the index and copies the value out of the log. Takes no lock and allocates nothing.
 * Its only shared write is an object's missing reference bit, in a cache with a limit. Stateless and thread-safe.
 *
 * <p>An entry can be freed and reused while it is read. The order of reads detects that: item, generation, item again
 * (so the generation belongs to the use the item points to), the bytes, the generation again.
 */
public final class ObjectReader {
    /** More than the uses of segments that a server can begin. */
    private static final int USE_BITS = 48;

    private final Segments segments;
    private final Clock clock;
    private final ErrorLog errors;
    private final ReadCheck check;
    private final boolean verify;
    private final LimitedCaches limits;
    /** Makes the numbers of uses different from those of other servers, whose addresses are the same. */
    private final long usesHere;

    /** @param verify whether every entry read is checked, or only doubtful ones */
    public ObjectReader(
            Segments segments, Clock clock, ErrorLog errors, ReadCheck check, boolean verify, LimitedCaches limits) {
        this.limits = limits;
        this.segments = segments;
        this.clock = clock;
        this.errors = errors;
        this.check = check;
        this.verify = verify;
        this.usesHere = (long) segments.area().serverId() << USE_BITS;
    }

    /**
     * Performs a GET.
     *
     * @param missVersion the shard's newest version, read by the caller before: the version of a miss
     * @return false when the object's lifetime is over: the caller must log its expiry before it responds
     */
    public boolean get(ShardReplica shard, Request request, long missVersion) {
        final long position = shard.positionOf(request.hash());
        long refused = 0;
        while (true) {
            final long address = shard.findLikely(position, refused, request);
            if (address == 0) {
                return answerUnlessInDoubt(shard, position, request, missVersion);
            }
            final int segment = segments.segmentOf(address);
            final int generation = segments.generation(segment);
            if (!shard.refers(position, address, request)) {
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
                // Normally freed and reused. If not, it stays unreadable.
                final String damage = whyDamaged(shard, position, segment, address, generation);
                if (damage != null) {
                    return answerCorrupted(shard, request, segment, address, generation, damage);
                }
                continue;
            }
            final long version = EntryDescriptor.version(buffer, at);
            final long objectVersion = EntryDescriptor.objectVersion(buffer, at, flags);
            final long expiryMs = EntryDescriptor.expiryMs(buffer, at, flags);
            final boolean visible = shard.isVisible(FrameDescriptor.type(word), request.cacheId(), version);
            final boolean live = visible && (expiryMs == Long.MAX_VALUE || clock.wallMs() < expiryMs);
            if (live && request.needsValue()) {
                buffer.get(valueAt, request.resultOf(valueLength), 0, valueLength);
            }
            Chaos.point("read.copied");
            // One flipped bit makes an object look cleared: it would be absent here, and present on other replicas.
            final String reason = verify || !visible ? check.whyInvalid(segment, address, generation) : null;
            final long use = request.needsLocation() ? useOf(segment) : 0;
            VarHandle.acquireFence();
            if (segments.generation(segment) != generation) {
                request.noResult();
                continue;
            }
            if (reason != null || segments.damage().isLost(address, generation)) {
                return answerCorrupted(shard, request, segment, address, generation, reason);
            }
            if (!visible) {
                return answerMiss(shard, request, missVersion);
            }
            if (live) {
                if (limits.find(request.cacheId()) != null) {
                    shard.index().marks().mark(position, address);
                }
                final boolean inParts = (flags & EntryDescriptor.IN_PARTS) != 0 && request.needsValue();
                request.answer(
                        inParts ? Status.IN_PARTS : Status.OK,
                        org.rowankv.protocol.ResultBits.EXISTED,
                        objectVersion,
                        request.needsExpiry() ? expiryMs : 0);
                if (use != 0 && !inParts) {
                    request.found(address, use, version, expiryMs);
                }
            }
            return live;
        }
    }

    /**
     * Whether a {@link #get} now would find the same entry, and return the object. Reads neither the entry nor its key,
     * takes no lock and allocates nothing. Requires that this server is the shard's primary. False for what another server
     * has found.
     *
     * <p>The index item decides: a key's item changes with each entry of the key, a move by the cleaner included. The
     * item's address is the entry's as long as the segment is in the same use, whose number never returns; it is read
     * after the item, so that it belongs to that moment. Clears are read after that, too: one that is not there by then
     * was not there before. So at the moment at which the item was read, all of this held.
     */
    public boolean isCurrent(FoundEntry entry) {
        final ShardReplica shard = entry.replica();
        if (!shard.index().refers(entry.position(), entry.address())) {
            return false;
        }
        final int segment = segments.segmentOf(entry.address());
        if (useOf(segment) != entry.use()
                || entry.version() <= shard.clears().clearedUpTo(entry.cacheId())
                || entry.expiryMs() != Long.MAX_VALUE && clock.wallMs() >= entry.expiryMs()
                || segments.damage().isLost(entry.address(), segments.generation(segment))) {
            return false;
        }
        if (limits.find(entry.cacheId()) != null) {
            shard.index().marks().mark(entry.position(), entry.address());
        }
        return true;
    }

    /** The number of a segment's use; different at each server. */
    long useOf(int segment) {
        return segments.use(segment) ^ usesHere;
    }

    /** A destroyed cache has no entries, readable or not. */
    private boolean answerCorrupted(
            ShardReplica shard, Request request, int segment, long address, int generation, @Nullable String reason) {
        if (reason != null) {
            segments.damage().suspect(segment, generation);
            // Once: a caller that waits for the repair looks at it again and again.
            if (segments.damage().isToBeReported(address, generation)) {
                errors.reportExpected(
                        "reading segment " + segment + " at "
                                + (address - segments.area().addressOf(segment)),
                        new IllegalStateException(reason));
            }
        }
        request.noResult();
        if (shard.clears().isDestroyed(request.cacheId())) {
            request.answer(Status.UNKNOWN_CACHE, 0, 0, 0);
        } else {
            request.answer(Status.CORRUPTED, segments.damage().answerBits(segment, address, generation), 0, 0);
        }
        return true;
    }

    /** No entry has that key; but a damaged entry may, as far as the index shows. */
    private boolean answerUnlessInDoubt(ShardReplica shard, long position, Request request, long missVersion) {
        long candidate = shard.index().candidate(position, 0);
        for (int n = 1; candidate != 0; n++) {
            final int segment = segments.segmentOf(candidate);
            final int generation = segments.generation(segment);
            final String reason = whyDamaged(shard, position, segment, candidate, generation);
            if (reason != null) {
                return answerCorrupted(shard, request, segment, candidate, generation, reason);
            }
            candidate = shard.index().candidate(position, n);
        }
        return answerMiss(shard, request, missVersion);
    }

    /**
     * The damage of an entry, while the index still points to it and its segment is in the same generation; else null.
     */
    private @Nullable String whyDamaged(ShardReplica shard, long position, int segment, long address, int generation) {
        if (!shard.index().refers(position, address)) {
            return null;
        }
        final String reason = check.whyInvalid(segment, address, generation);
        VarHandle.acquireFence();
        return segments.generation(segment) == generation ? reason : null;
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
