package org.rowankv.server.scrub;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.index.IndexItem;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.DamagedEntries;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/**
 * The repair of damaged segments: finds out what is missing, whether it is needed, and which replica has it. A damaged
 * entry reveals neither its key nor whether it is one. So the indexes are searched for items that point to an address
 * without a whole entry. Each of those is replaced from another replica, or is lost: requests for it report that.
 *
 * <p>In a segment that is still written to, or not committed yet, only what the indexes point to is replaced, and only by
 * the same entry, once that is on all replicas: an older one of its key may be committed, while the damaged one is not.
 * All else waits until the segment is committed.
 *
 * <p>One segment at a time, one index per cycle. Walking an index takes some ten nanoseconds per object, and happens
 * only on damage. Used by the scrubber's thread.
 */
public final class ReplicaRepair implements SegmentScan.Visitor {
    private static final int LOCK_OWNER = (1 << 20) + 6;
    private static final int STRIDE_SHIFT = Integer.numberOfTrailingZeros(EntryDescriptor.STRIDE);

    private enum State {
        IDLE,
        /** The next index is to be searched. */
        SEARCHING_INDEXES,
        /**
         * The other replicas must digest what had landed when the damage was found. If only the key identifies an entry
         * of theirs, it must also be on all replicas.
         */
        AWAITING_PEERS
    }

    /** What a replica must have digested: all that had landed there when it was first needed. */
    private static final class Awaited {
        private final PeerReplica peer;
        private final long position;
        private long from;

        Awaited(PeerReplica peer, long position) {
            this.peer = peer;
            this.position = position;
            this.from = peer.digestCycles(position);
        }

        boolean isOver() {
            final long now = peer.digestCycles(position);
            if (from < 0 || now < from) {
                from = now; // its first count, or that of its next start
            }
            return now == PeerReplica.GONE || now >= 0 && now >= from + 2;
        }
    }

    private final int serverId;
    private final Segments segments;
    private final Replicas replicas;
    private final PeerReplicas peers;
    private final ErrorLog errors;
    private final StartNeeds startNeeds;
    private final DamagedEntries damage;
    private final SegmentScan scan;
    private final EntryCheck check;
    private final AppendLog log;

    private State state = State.IDLE;
    private DamagedEntries.@Nullable Suspect suspect;
    private final BitSet whole = new BitSet();
    private int found;
    private int invalid;
    /** Missing bytes that are known not to be needed, or were replaced. */
    private int explained;

    private boolean keepsUnknown;
    /** Whether the present use is examined for the first time, closed and committed. */
    private boolean isFirst;
    /** Whether the present use was not closed, or not committed, when its examination began. */
    private boolean isEarly;

    private int shard;
    private final List<DamagedItem> needed = new ArrayList<>();
    /** Addresses of damaged entries that are not needed there: replaced, overwritten or dead. */
    private final List<Long> unneeded = new ArrayList<>();

    private final List<Awaited> awaited = new ArrayList<>();

    /**
     * @param peers the other replicas of a shard that can be read from here
     * @param horizonWithout the tombstone horizon of all segments but one, or 0 while it is unknown
     */
    public ReplicaRepair(
            int serverId,
            Segments segments,
            Replicas replicas,
            PeerReplicas peers,
            ErrorLog errors,
            IntToLongFunction horizonWithout) {
        this.startNeeds = new StartNeeds(segments, replicas, horizonWithout);
        this.serverId = serverId;
        this.segments = segments;
        this.replicas = replicas;
        this.peers = peers;
        this.errors = errors;
        this.damage = segments.damage();
        this.scan = new SegmentScan(segments.region());
        this.check = new EntryCheck(segments.region());
        this.log = new AppendLog(segments, SegmentOwner.CLEAN, segments.cleanerReserve());
    }

    /** Performs the next step; false when there is nothing to repair. */
    boolean step() {
        switch (state) {
            case IDLE -> {
                return begin();
            }
            case SEARCHING_INDEXES -> {
                if (shard < replicas.shardCount()) {
                    askIndex(shard++);
                } else {
                    awaitPeers();
                    state = State.AWAITING_PEERS;
                }
                return true;
            }
            case AWAITING_PEERS -> {
                awaited.removeIf(Awaited::isOver);
                // What is not committed in time is examined again: it must not keep others waiting.
                if (awaited.isEmpty() && (isEarly || needed.stream().noneMatch(this::isUndecided))) {
                    repair();
                    peers.forget();
                    state = State.IDLE;
                    return true;
                }
                return false;
            }
        }
        throw new AssertionError(state);
    }

    private boolean begin() {
        suspect = damage.poll();
        if (suspect == null) {
            return false;
        }
        isEarly = !isStill(suspect);
        if (suspect.generation() == 0 || segments.generation(suspect.segment()) != suspect.generation()) {
            // It is not needed there any more.
            damage.settled(suspect, 0, 0);
            return true;
        }
        whole.clear();
        found = 0;
        invalid = 0;
        explained = 0;
        keepsUnknown = false;
        isFirst = !isEarly && damage.undecidedSince(suspect) == 0;
        needed.clear();
        unneeded.clear();
        awaited.clear();
        shard = 0;
        scan.scan(segments.area().addressOf(suspect.segment()), segments.length(), suspect.generation(), this);
        state = State.SEARCHING_INDEXES;
        return true;
    }

    private boolean isStill(DamagedEntries.Suspect use) {
        return segments.generation(use.segment()) == use.generation()
                && segments.state(use.segment()) == SegmentState.COMMITTED
                && segments.isClosed(use.segment());
    }

    private DamagedEntries.Suspect suspected() {
        if (suspect == null) {
            throw new AssertionError("no segment is suspect");
        }
        return suspect;
    }

    @Override
    public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
        found += segments.charge(length);
        whole.set(strideOf(address));
    }

    /** The publication word implies that there is something; the index decides whether it is needed. */
    @Override
    public void onInvalid(long address, String reason) {
        invalid++;
    }

    private int strideOf(long address) {
        return (int) (address - segments.area().addressOf(segments.segmentOf(address))) >> STRIDE_SHIFT;
    }

    private void askIndex(int asked) {
        final ShardReplica replica = replicas.find(asked);
        if (replica == null) {
            return;
        }
        long position = 0;
        do {
            replica.index().lock(LOCK_OWNER);
            try {
                position = replica.index()
                        .visitItems(position, item -> look(replica, IndexItem.position(item), IndexItem.address(item)));
            } finally {
                replica.index().unlock();
            }
        } while (position != 0);
    }

    private void look(ShardReplica replica, long position, long address) {
        if (segments.segmentOf(address) != suspected().segment()
                || whole.get(strideOf(address))
                || segments.generation(suspected().segment()) != suspected().generation()
                || isEarly && whyInvalid(address, suspected()) == null) { // written since the scan
            return;
        }
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final long word = FrameDescriptor.wordAcquire(buffer, at);
        if (FrameDescriptor.generation(word) == suspected().generation()
                && FrameDescriptor.isEntryType(FrameDescriptor.type(word))) {
            needed.add(new DamagedItem(
                    segments,
                    replica,
                    position,
                    address,
                    FrameDescriptor.type(word),
                    chargeOf(FrameDescriptor.length(word))));
        } else {
            countBad(1); // its word is damaged, so the scan skipped it
            needed.add(new DamagedItem(segments, replica, position, address, 0, 0));
        }
    }

    private int chargeOf(int length) {
        return length > 0 && length <= segments.length() ? segments.charge(length) : 0;
    }

    private void awaitPeers() {
        for (DamagedItem each : needed) {
            for (PeerReplica peer : peers.of(each.replica().shardId())) {
                awaited.add(new Awaited(peer, each.position()));
            }
        }
    }

    private void repair() {
        final DamagedEntries.Suspect use = suspected();
        if (isEarly) {
            repairEarly(use);
            return;
        }
        if (needed.isEmpty() && found == segments.entryBytes(use.segment())) {
            // All that was written is there. The apparent entry is left from an earlier use of the segment: bytes of a
            // value that match this use, as one stride in four billion does.
            damage.settled(use, invalid, 0);
            return;
        }
        countBad(invalid);
        damage.replaced(use).values().forEach(bytes -> explained += bytes);
        boolean allThere = true;
        for (DamagedItem each : needed) {
            allThere &= repair(each, use);
        }
        log.retire();
        log.drain();
        final int missing = segments.entryBytes(use.segment()) - found;
        explainDead(use);
        if (!allThere || keepsUnknown) {
            damage.undecided(use, segments.lastSequence()); // each was reported; the segment stays as it is
        } else if (missing > explained) {
            damage.undecided(use, segments.lastSequence());
            errors.reportExpected(
                    place(segments.area().addressOf(use.segment())),
                    new IllegalStateException(missing - explained
                            + " bytes of entries are damaged, and it is unknown whether they are needed: the"
                            + " segment is kept as it is"));
        } else {
            writeOffUnneeded();
            final long base = segments.area().addressOf(use.segment());
            damage.found(base, base + segments.length());
            damage.settled(use, invalid, missing);
        }
    }

    /** The segment is examined as a whole when the scrubber finds it committed. */
    private void repairEarly(DamagedEntries.Suspect use) {
        boolean allThere = true;
        for (DamagedItem each : needed) {
            if (each.isReferredTo(replicas)) {
                final boolean isReplaced = isReplaced(each, reason(each, use));
                allThere &= isReplaced;
                if (isReplaced && !each.hasWord()) {
                    damage.countBad(); // no later scan finds it
                }
            }
        }
        log.retire();
        log.drain();
        if (allThere) {
            damage.examinedEarly(use);
        } else {
            damage.inVain(use);
        }
    }

    private void countBad(int count) {
        for (int i = 0; i < count && isFirst; i++) {
            damage.countBad();
        }
    }

    /**
     * A start does not see what was settled, and counts damage in the backup log as an entry that the replica lacks. So
     * the entries get a durable mark, now that the copies are drained.
     */
    private void writeOffUnneeded() {
        for (long address : unneeded) {
            check.writeOff(address);
            segments.area().flush(address, FrameDescriptor.HEADER_LENGTH);
        }
    }

    /**
     * Accounts for invalid entries that were not needed: if the word is readable, its type decides whether the entry
     * may go.
     */
    private void explainDead(DamagedEntries.Suspect use) {
        scan.scan(segments.area().addressOf(use.segment()), segments.length(), use.generation(), new DeadEntries());
    }

    private final class DeadEntries implements SegmentScan.Visitor {
        @Override
        public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
            // Whole.
        }

        @Override
        public void onInvalid(long address, String reason) {
            for (DamagedItem each : needed) {
                if (each.address() == address) {
                    return;
                }
            }
            if (damage.replaced(suspected()).containsKey(address)) {
                unneeded.add(address);
                return;
            }
            explained += chargeOf(FrameDescriptor.length(wordAt(address)));
            letGo(address, reason);
        }
    }

    private long wordAt(long address) {
        return FrameDescriptor.wordAcquire(
                segments.region().buffer(address), segments.region().offset(address));
    }

    /** The index does not refer to the entry: it is not needed, unless a start may need it. */
    private void letGo(long address, String reason) {
        switch (startNeeds.of(address, damage.undecidedSince(suspected()))) {
            case NONE -> unneeded.add(address);
            case OWN_SEGMENT -> {
                // Not written off: a start before the segment is cleaned must not take it for complete.
            }
            case UNKNOWN -> {
                keepsUnknown = true;
                errors.reportExpected(
                        place(address),
                        new IllegalStateException(EntryType.name(startNeeds.typeOf(address)) + ": " + reason
                                + "; it may be needed at a start, so the segment is kept as it is"));
            }
        }
    }

    /** Whether it is restored, or is not needed any more. */
    private boolean repair(DamagedItem each, DamagedEntries.Suspect use) {
        final ShardReplica replica = each.replica();
        if (!each.isReferredTo(replicas)) {
            explained += each.charge();
            if (each.hasWord()) {
                letGo(each.address(), "overwritten meanwhile");
            }
            return true;
        }
        final String reason = reason(each, use);
        if (isReplaced(each, reason)) {
            if (each.hasWord()) {
                unneeded.add(each.address());
            }
            return true;
        }
        errors.reportExpected(
                place(each.address()),
                new IllegalStateException(reason + "; shard " + replica.shardId()
                        + ", and no other replica has it: reading it fails until it is written again"));
        damage.lost(each.address(), use.generation());
        return false;
    }

    private @Nullable String whyInvalid(long address, DamagedEntries.Suspect use) {
        final long end = segments.area().addressOf(use.segment()) + segments.length();
        return check.whyInvalid(address, end, use.generation());
    }

    private String reason(DamagedItem each, DamagedEntries.Suspect use) {
        final String why = whyInvalid(each.address(), use);
        return why == null ? "damaged for a moment" : why;
    }

    private boolean isReplaced(DamagedItem each, String reason) {
        final ByteBuffer copy = copyOf(each);
        if (copy != null && replace(each, copy)) {
            errors.reportExpected(
                    place(each.address()), new IllegalStateException(reason + "; taken from another replica"));
            damage.countReplaced();
            return true;
        }
        return false;
    }

    private @Nullable ByteBuffer copyOf(DamagedItem each) {
        return find(each, entry -> isEarly ? each.isExactlyThat(entry) : each.isThat(entry));
    }

    /** Another replica has a whole entry of that key, and whether that is on all replicas is not known here yet. */
    private boolean isUndecided(DamagedItem each) {
        return each.isReferredTo(replicas) && copyOf(each) == null && find(each, each::mayBeThat) != null;
    }

    private @Nullable ByteBuffer find(DamagedItem each, PeerReplica.Match match) {
        for (PeerReplica peer : peers.of(each.replica().shardId())) {
            final ByteBuffer copy = peer.find(each.position(), match);
            if (copy != null) {
                return copy;
            }
        }
        return null;
    }

    private boolean replace(DamagedItem each, ByteBuffer copy) {
        final int length = copy.capacity();
        if (!log.ensureRoom(length, segments.horizon(segments.segmentOf(each.address())))) {
            return false;
        }
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(copy, 0));
        final ShardReplica replica = each.replica();
        final long address = log.appendCopy(copy, 0, length, type, replica.tenure(), 0);
        if (replica.relocate(LOCK_OWNER, each.position(), type, each.address(), address)) {
            segments.markDead(each.address(), length);
            damage.replaced(suspected(), each.address(), segments.charge(length));
            replica.clears().repaired(EntryDescriptor.cacheId(copy, 0), EntryDescriptor.version(copy, 0));
            final int flags = EntryDescriptor.flags(copy, 0);
            final long sequence = EntryDescriptor.sequence(copy, 0, flags);
            if (sequence != 0) {
                final long sessionId = EntryDescriptor.sessionId(copy, 0, flags);
                replica.sessions(sessionId).completionMoved(sessionId, sequence, each.address(), address);
            }
        } else {
            segments.markDead(address, length);
        }
        explained += segments.charge(length);
        return true;
    }

    private String place(long address) {
        final int segment = segments.segmentOf(address);
        return "server " + serverId + ": segment " + segment + " at "
                + (address - segments.area().addressOf(segment)) + ", "
                + (segments.area().file() == null
                        ? "in memory"
                        : segments.area().file() + " at " + address);
    }

    void close() {
        log.retire();
    }
}
