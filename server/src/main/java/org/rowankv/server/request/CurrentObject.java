package org.rowankv.server.request;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * What the index says about a key now: its newest entry's header, and on request its value. Owned by one worker, which
 * holds the key's lock; the cleaner may still move the entry, hence the check of the segment's generation.
 */
final class CurrentObject {
    private final Segments segments;
    private final EntryCheck check;

    long address;
    /** Of its segment, by which one can tell later that the entry still lies there. */
    int generation;

    int type;
    int length;
    long version;
    long objectVersion;
    long expiryMs;
    int valueLength;
    /** There is an object, its lifetime aside. */
    boolean present;
    /** Its entry must be kept when it is replaced: a session may still ask for its answer. */
    boolean keptForAnswer;
    /** Its entry is damaged: found so now, or known to be, where no other replica has it. */
    boolean damaged;
    /** There is no such key; but an entry that may have been of it is damaged, so nobody knows. */
    boolean inDoubt;

    CurrentObject(Segments segments) {
        this.segments = segments;
        this.check = new EntryCheck(segments.region());
    }

    /**
     * Looks the request's key up.
     *
     * @param copyValue whether a present object's value goes to the request's result
     * @param verify whether the entry is checked: what is made of it must not be made of damage
     */
    void load(ShardReplica shard, long position, Request request, boolean copyValue, boolean verify) {
        damaged = false;
        inDoubt = false;
        long refused = 0;
        while (true) {
            address = shard.findLikely(position, refused, request);
            if (address == 0) {
                type = 0;
                version = 0;
                objectVersion = 0;
                present = false;
                keptForAnswer = false;
                inDoubt = isDoubtful(shard, position);
                return;
            }
            final int segment = segments.segmentOf(address);
            generation = segments.generation(segment);
            if (shard.refers(position, address, request) && readEntry(shard, request, copyValue)) {
                final boolean whole = !verify || whyInvalid(address, generation) == null;
                VarHandle.acquireFence();
                if (segments.generation(segment) == generation) {
                    damaged = !whole || segments.damage().isLost(address, generation);
                    if (!whole) {
                        segments.damage().suspect(segment, generation);
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
                keptForAnswer = false;
                inDoubt = true; // its header cannot be read, and never will be
                return;
            }
        }
    }

    /** Whether an entry is bad that the index points to all the while, in a segment that stays in that use. */
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

    /** There is an object, and its entry is not known to be damaged. */
    boolean isKnown() {
        return present && !damaged;
    }

    /** The version of the object that is there; 0 if there is none, or if its entry is damaged. */
    long knownVersion() {
        return isKnown() ? objectVersion : 0;
    }

    /** Forgets what was loaded for another request. */
    void clear() {
        address = 0;
        present = false;
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
        // Of its own session the request ends what that has the answer for, and no more.
        keptForAnswer = sequence != 0
                && (sessionId != request.sessionId() || sequence >= request.sequence() - request.unanswered())
                && shard.sessions(sessionId).isNeeded(sessionId, sequence, address);
        // Read once more than they were checked: the segment may have been used anew since, and hold anything.
        final int valueAt = at + EntryDescriptor.headerLength(flags) + EntryDescriptor.keyLength(buffer, at);
        if (valueLength < 0 || valueAt < at || valueAt - at > length - valueLength) {
            return false;
        }
        if (present && copyValue) {
            buffer.get(valueAt, request.resultOf(valueLength), 0, valueLength);
        }
        return true;
    }

    /** The version of the deletion that is remembered of the key, or 0. */
    long deletedAt() {
        return EntryType.isTombstone(type) ? version : 0;
    }
}
