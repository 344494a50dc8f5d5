package org.rowankv.server.resync;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Function;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.cleaning.CompletionRecord;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * The entries of one shard that a replica lacks while catching up, in sequence, each copied into a buffer: the openings
 * of open sessions, the completions that may still be requested, and the live objects in hash order. Only entries from
 * before the replica's tenure; later ones were sent when they were written. What the receiver has already is left out.
 *
 * <p>Tombstones are excluded: there is nothing older for them to end, and that a cache is destroyed is
 * {@linkplain CopyListener#announced announced}. Meanwhile, copied entries may be superseded,
 * removed or cleared. The receiver must ensure that the larger version wins in any order. A damaged object is awaited
 * until it is repaired or lost, or {@link #leaveOutDamaged()}; anything else that is damaged is left out.
 *
 * <p>Used by one agent.
 */
final class CopySource {
    /** There is no entry left. */
    static final int END = 0;
    /** The next entry is longer than the room for it. */
    static final int NO_ROOM = -1;
    /** Nothing can be copied before a damaged object is repaired, which another replica may have. */
    static final int AWAITS_REPAIR = -2;

    /** Whether the receiver has the next entries already is not known yet. */
    static final int AWAITS_ANSWER = -3;
    /** Nothing was found so far: call again. Where the receiver has nearly all, whole buckets are passed over. */
    static final int NOT_YET = -4;

    /** Other agents share the thread. */
    private static final int BUCKETS_PER_CALL = 256;

    private static final int LOCK_OWNER = (1 << 20) + 5;

    private final Segments segments;
    private final ShardReplica replica;
    private final long end;
    private final ByteBuffer target;
    private final EntryCheck check;
    private final CompletionRecord completions = new CompletionRecord();

    private final long[] sessions;
    private int session;
    private boolean opened;
    private long sequence;

    private boolean inObjects;
    private long position;
    private boolean inBucket;
    /** The end of the current bucket at its first visit; it may be split since. */
    private long bucketEnd;
    /** Versions of the entries copied from that bucket, and where they were. */
    private long[] copied = new long[16];

    private long[] places = new long[16];

    private int copiedCount;
    private boolean over;

    private int targetAt;
    private int room;
    private int length;
    /** In this call, so far: something damaged was left out. */
    private boolean metDamage;
    /** In this call, so far: a damaged object of the bucket may still be repaired. */
    private boolean awaitsRepair;

    /** In this call. */
    private boolean awaitsAnswer;

    private boolean leavesOut;
    private final Inventory inventory;

    /**
     * Every version of the shard that was assigned before the replica that is catching up became a backup is finished.
     *
     * @param epoch with which the tenure of that replica began
     * @param receiver asks its server which objects are there
     */
    CopySource(
            Segments segments,
            ShardReplica replica,
            int epoch,
            Function<ByteBuffer, Inquiry> receiver,
            ByteBuffer target) {
        this.segments = segments;
        this.replica = replica;
        this.end = Version.of(epoch, 0);
        this.target = target;
        this.inventory = new Inventory(segments, replica, end, receiver);
        this.check = new EntryCheck(segments.region());
        this.sessions = replica.sessions().openIds();
    }

    /** The epoch has changed. */
    void askAgain() {
        inventory.askAgain();
    }

    /** Objects that the receiver had already, so far. */
    long presentThere() {
        return inventory.found();
    }

    /** From now on damaged objects are left out. */
    void leaveOutDamaged() {
        leavesOut = true;
    }

    /**
     * Copies the next entry to a place in the buffer; its length, or {@link #END}, {@link #NO_ROOM}, {@link
     * #AWAITS_REPAIR}, {@link #AWAITS_ANSWER} or {@link #NOT_YET}.
     */
    int next(int at, int bytes) {
        targetAt = at;
        room = bytes;
        length = 0;
        awaitsRepair = false;
        awaitsAnswer = false;
        while (length == 0 && !inObjects) {
            nextOfSession();
        }
        for (int i = 0; i < BUCKETS_PER_CALL && length == 0 && !awaitsRepair && !awaitsAnswer && !over; i++) {
            nextOfBucket();
        }
        if (metDamage) {
            metDamage = false;
            Chaos.point("copy.damaged");
        }
        if (length != 0) {
            return length;
        }
        if (awaitsRepair) {
            return AWAITS_REPAIR;
        }
        if (awaitsAnswer) {
            return AWAITS_ANSWER;
        }
        return over ? END : NOT_YET;
    }

    private void nextOfSession() {
        if (session == sessions.length) {
            inObjects = true;
            return;
        }
        final long id = sessions[session];
        if (!opened) {
            final boolean metBefore = metDamage;
            metDamage = false;
            replica.sessions(id).readOpening(id, this::copyIfOld);
            if (metDamage) {
                session++; // its completions mean nothing without it
            } else {
                opened = length != NO_ROOM;
            }
            metDamage |= metBefore;
            return;
        }
        final long next = replica.sessions(id).readCompletion(id, sequence, this::copyCompletion);
        if (next < 0) {
            session++;
            opened = false;
            sequence = 0;
        } else if (length != NO_ROOM) {
            sequence = next;
        }
    }

    private void nextOfBucket() {
        if (!inventory.isKnown(position)) {
            awaitsAnswer = true;
            return;
        }
        replica.index().lock(LOCK_OWNER);
        try {
            // While the lock is held the cleaner cannot free anything that the index points to.
            final long next = replica.index().visit(position, this::copyObject);
            if (!inBucket) {
                inBucket = true;
                bucketEnd = next;
            }
            if (length == 0 && !awaitsRepair) {
                position = next;
                over = next == 0;
                if (next == bucketEnd) {
                    inBucket = false;
                    copiedCount = 0;
                }
            }
        } finally {
            replica.index().unlock();
        }
    }

    private void copyObject(long address) {
        if (length != 0) {
            return;
        }
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final long version = EntryDescriptor.version(entry, at);
        // The place too: a damaged version may be that of a neighbour. The whole entry is examined once, unless it
        // moves.
        if (inventory.has(address, version)) {
            return;
        }
        if (isCopied(version, address) || !isWhole(address) || isCopied(version)) {
            return; // what is damaged has no meaning, and would stop the receiver
        }
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(entry, at));
        if (replica.isVisible(type, EntryDescriptor.cacheId(entry, at), version)) {
            copyOld(address);
            if (length > 0) {
                if (copiedCount == copied.length) {
                    copied = Arrays.copyOf(copied, 2 * copiedCount);
                    places = Arrays.copyOf(places, 2 * copiedCount);
                }
                places[copiedCount] = address;
                copied[copiedCount++] = version;
            }
        }
    }

    private boolean isCopied(long version, long address) {
        for (int i = 0; i < copiedCount; i++) {
            if (copied[i] == version && places[i] == address) {
                return true;
            }
        }
        return false;
    }

    private boolean isCopied(long version) {
        for (int i = 0; i < copiedCount; i++) {
            if (copied[i] == version) {
                return true;
            }
        }
        return false;
    }

    /** Whether that object can be copied. A replica that lacked it would count as complete. */
    private boolean isWhole(long address) {
        if (check.isSound(segments, address)) {
            return true;
        }
        if (leavesOut || segments.damage().isLost(address, segments.generation(segments.segmentOf(address)))) {
            metDamage = true;
        } else {
            awaitsRepair = true;
        }
        return false;
    }

    private boolean isSound(long address) {
        final boolean isSound = check.isSound(segments, address);
        metDamage |= !isSound;
        return isSound;
    }

    private boolean isOld(ByteBuffer entry, int at) {
        return EntryDescriptor.version(entry, at) < end;
    }

    private void copyIfOld(long address) {
        if (isSound(address)) {
            copyOld(address);
        }
    }

    private void copyOld(long address) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        if (isOld(entry, at) && fits(FrameDescriptor.length(FrameDescriptor.wordPlain(entry, at)))) {
            target.put(targetAt, entry, at, length);
        }
    }

    /** As a record: the object itself may be dead, and its end forgotten. */
    private void copyCompletion(long address) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        if (isSound(address) && isOld(entry, at)) {
            final EntryDraft draft = completions.of(entry, at).withoutSpace();
            if (fits(EntryDescriptor.aligned((int) draft.usedLength()))) {
                final int crc = draft.writeBody(target, targetAt);
                FrameDescriptor.source(target, targetAt, length, EntryType.COMPLETION, crc);
            }
        }
    }

    private boolean fits(int entryLength) {
        length = entryLength <= room ? entryLength : NO_ROOM;
        return length > 0;
    }
}
