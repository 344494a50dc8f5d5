package org.rowankv.server.request;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Request;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * The index's current state of a key: its newest entry's header and, on request, its value. Owned by one worker, which
 * holds the key's lock. The cleaner may still move the entry, hence the check of the segment's generation.
 */
final class CurrentObject {
    private final Segments segments;
    private final EntryCheck check;

    long address;
    /** Generation of its segment: detects later whether the entry still lies there. */
    int generation;

    int type;
    int length;
    long version;
    long objectVersion;
    long expiryMs;
    int valueLength;
    /** The list of its parts, if the object's value is in parts. */
    @Nullable
    PartList parts;
    /** An object is present; its lifetime is not checked. */
    boolean present;
    /** Its entry must be kept when it is replaced: a session may still request its response. */
    boolean keptForAnswer;
    /** Its entry is damaged: detected now, or known to be where no other replica has it. */
    boolean damaged;
    /** The key is absent, but a damaged entry may belong to it: the outcome is unknown. */
    boolean inDoubt;
    /** If one of these: the result bits of an answer that says so. */
    int damageBits;

    CurrentObject(Segments segments) {
        this.segments = segments;
        this.check = new EntryCheck(segments.region());
    }

    /**
     * Looks up the request's key.
     *
     * @param copyValue whether a present object's value is copied to the request's result
     * @param verify whether the checksums of an object's entry are checked, so that no damage is copied on. Those of an
     *     entry without one always are: one flipped bit makes an object look cleared. So are those of a list of parts,
     *     which are removed by what it says.
     */
    void load(ShardReplica shard, long position, Request request, boolean copyValue, boolean verify) {
        damaged = false;
        inDoubt = false;
        damageBits = 0;
        long refused = 0;
        while (true) {
            address = shard.findLikely(position, refused, request);
            if (address == 0) {
                type = 0;
                version = 0;
                objectVersion = 0;
                present = false;
                parts = null;
                keptForAnswer = false;
                inDoubt = isDoubtful(shard, position);
                return;
            }
            final int segment = segments.segmentOf(address);
            generation = segments.generation(segment);
            if (shard.refers(position, address, request) && readEntry(shard, request, copyValue)) {
                final boolean whole = !verify && present && parts == null || whyInvalid(address, generation) == null;
                VarHandle.acquireFence();
                if (segments.generation(segment) == generation) {
                    damaged = !whole || segments.damage().isLost(address, generation);
                    if (!whole) {
                        segments.damage().suspect(segment, generation);
                    }
                    if (damaged) {
                        damageBits = answerBits();
                    }
                    return;
                }
            }
            refused = address;
            if (copyValue) {
                request.noResult();
            }
            if (isDamaged(shard, position, address, generation)) {
                present = false;
                parts = null;
                keptForAnswer = false;
                inDoubt = true; // its header is unreadable for good
                return;
            }
        }
    }

    /** The result bits of an answer that the entry is damaged. */
    int answerBits() {
        return segments.damage().answerBits(segments.segmentOf(address), address, generation);
    }

    /** Whether the entry is damaged, while the index still points to it and its segment is in the same generation. */
    private boolean isDamaged(ShardReplica shard, long position, long candidate, int generation) {
        final int segment = segments.segmentOf(candidate);
        if (!shard.index().refers(position, candidate) || whyInvalid(candidate, generation) == null) {
            return false;
        }
        VarHandle.acquireFence();
        if (segments.generation(segment) != generation) {
            return false;
        }
        segments.damage().suspect(segment, generation);
        damageBits = segments.damage().answerBits(segment, candidate, generation);
        return true;
    }

    private @Nullable String whyInvalid(long entry, int use) {
        return check.whyInvalid(entry, segments.area().addressOf(segments.segmentOf(entry)) + segments.length(), use);
    }

    private boolean isDoubtful(ShardReplica shard, long position) {
        long candidate = shard.index().candidate(position, 0);
        for (int n = 1; candidate != 0; n++) {
            if (isDamaged(shard, position, candidate, segments.generation(segments.segmentOf(candidate)))) {
                return true;
            }
            candidate = shard.index().candidate(position, n);
        }
        return false;
    }

    /** An object is present, and its entry is not known to be damaged. */
    boolean isKnown() {
        return present && !damaged;
    }

    /** The version of the present object; 0 if there is none, or its entry is damaged. */
    long knownVersion() {
        return isKnown() ? objectVersion : 0;
    }

    /** Resets this for another request. */
    void clear() {
        address = 0;
        present = false;
        parts = null;
    }

    private boolean readEntry(ShardReplica shard, Request request, boolean copyValue) {
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final long word = FrameDescriptor.wordAcquire(buffer, at);
        type = FrameDescriptor.type(word);
        length = FrameDescriptor.length(word);
        if (at + length > buffer.capacity() || EntryDescriptor.whyMalformed(buffer, at, length) != null) {
            return false;
        }
        final int flags = EntryDescriptor.flags(buffer, at);
        version = EntryDescriptor.version(buffer, at);
        objectVersion = EntryDescriptor.objectVersion(buffer, at, flags);
        expiryMs = EntryDescriptor.expiryMs(buffer, at, flags);
        valueLength = EntryDescriptor.valueLength(buffer, at);
        present = shard.isVisible(type, EntryDescriptor.cacheId(buffer, at), version);
        final long sessionId = EntryDescriptor.sessionId(buffer, at, flags);
        final long sequence = EntryDescriptor.sequence(buffer, at, flags);
        // A request ends completions of its own session only up to its watermark.
        keptForAnswer = sequence != 0
                && (sessionId != request.sessionId() || sequence >= request.sequence() - request.unanswered())
                && shard.sessions(sessionId).isNeeded(sessionId, sequence, address);
        // Re-read after their check: the segment may have been reused since, and hold anything.
        final int valueAt = at + EntryDescriptor.headerLength(flags) + EntryDescriptor.keyLength(buffer, at);
        if (valueLength < 0 || valueAt < at || valueAt - at > length - valueLength) {
            return false;
        }
        parts = present && (flags & EntryDescriptor.IN_PARTS) != 0 ? PartList.read(buffer, valueAt, valueLength) : null;
        if (present && copyValue) {
            buffer.get(valueAt, request.resultOf(valueLength), 0, valueLength);
        }
        return true;
    }

    /** The version of the key's remembered deletion, or 0. */
    long deletedAt() {
        return EntryType.isTombstone(type) ? version : 0;
    }
}
