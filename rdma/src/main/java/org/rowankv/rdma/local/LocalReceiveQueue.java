package org.rowankv.rdma.local;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.rowan.GenerationSource;
import org.rowankv.runtime.Chaos;

/**
 * The receiver's side of a landing ring: postings, the list of senders, and the fences.
 *
 * <p>Why nothing of a fenced sender lands after its fence returns. The fence revokes the permission, then raises the
 * epoch, then helps, then voids. A sender that read the ring word before the epoch rose fails its compare-and-set and
 * finds its permission revoked; one that reads it later finds that at once. One that had reserved before has set its
 * hazard word to the slot before that; so the fence sees the slot, and by helping, every such slot has its word. If
 * that is RESERVED the fence turns it to VOID and the sender's publication fails; if not, the entry was published
 * before the fence returned.
 *
 * <p>A hazard word may show a slot that its owner lost to another, live sender: voiding it is harmless, because the
 * live sender gets VOIDED and appends again. A fence does not undo a WRITE: one that is interrupted between two bytes
 * continues with its thread, into a segment that is in quarantine because it is named.
 *
 * <p>This object's monitor guards fences and the sender list; reading methods are for any thread, {@link #post} is for
 * the control agent.
 */
final class LocalReceiveQueue implements ReceiveQueue {
    private final EndpointSettings settings;
    private final LandingRing ring;
    private final HazardWord fencerHazard = new HazardWord();
    /** Copied on write: senders that may land, and fenced ones that still name a segment, also of former endpoints. */
    private volatile LocalQueuePair[] pairs;

    private volatile boolean closed;

    LocalReceiveQueue(EndpointSettings settings, LandingRing ring, List<LocalQueuePair> lingering) {
        this.settings = settings;
        this.ring = ring;
        this.pairs = lingering.toArray(LocalQueuePair[]::new);
    }

    /** Adds a sender if the check, under the same monitor as fences, passes; it throws if not. */
    synchronized void admit(LocalQueuePair pair, Runnable check) {
        check.run();
        final LocalQueuePair[] more = Arrays.copyOf(pairs, pairs.length + 1);
        more[pairs.length] = pair;
        pairs = more;
    }

    synchronized void forget(LocalQueuePair pair) {
        replacePairs(each -> each != pair || each.hazard().isSet());
    }

    /** Fences all senders and posts no more; returns the senders that still name a segment. */
    List<LocalQueuePair> close() {
        closed = true;
        fenceAll();
        return List.of(pairs);
    }

    @Override
    public boolean post(int segment, int generation) {
        if (generation == 0 || segment < 0 || segment >= settings.segmentCount()) {
            throw new IllegalArgumentException("segment " + segment + ", generation " + generation);
        }
        final long open = ring.postedCount() - ring.wholeOrdinal(ring.word());
        // The segment being landed in does not count.
        if (closed || open - 1 >= settings.maxPosted()) {
            return false;
        }
        assert !GenerationSource.occurs(
                        ring.buffer(segment), ring.offset(segment, 0), settings.segmentLength(), generation)
                : "generation " + generation + " occurs in the old bytes of segment " + segment;
        ring.post(segment, generation);
        return true;
    }

    @Override
    public long firstOrdinal() {
        return ring.firstOrdinal();
    }

    @Override
    public long postedCount() {
        return ring.postedCount();
    }

    @Override
    public long currentOrdinal() {
        return ring.wholeOrdinal(ring.word());
    }

    @Override
    public int segmentAt(long ordinal) {
        return LandingRing.segment(ring.posting(known(ordinal)));
    }

    @Override
    public int generationAt(long ordinal) {
        return LandingRing.generation(ring.posting(known(ordinal)));
    }

    @Override
    public boolean isClosed(long ordinal) {
        return currentOrdinal() > ordinal;
    }

    @Override
    public int landedLimit(long ordinal) {
        final long found = ring.word();
        final long current = ring.wholeOrdinal(found);
        if (ordinal == current) {
            return RingWord.tail(found) * FrameDescriptor.STRIDE;
        }
        return ordinal > current ? 0 : closedLimit(ordinal);
    }

    /** The end of the last entry with a word of the segment's generation. */
    private int closedLimit(long ordinal) {
        final int segment = segmentAt(ordinal);
        final int generation = generationAt(ordinal);
        final ByteBuffer buffer = ring.buffer(segment);
        final int base = ring.offset(segment, 0);
        int limit = 0;
        while (limit < settings.segmentLength()) {
            final long word = FrameDescriptor.wordAcquire(buffer, base + limit);
            if (FrameDescriptor.generation(word) != generation) {
                break;
            }
            limit += FrameDescriptor.length(word);
        }
        return limit;
    }

    @Override
    public FenceReport fence(int serverId) {
        return fence(pair -> pair.senderId() == serverId, -1, 0);
    }

    @Override
    public FenceReport fenceAll() {
        return fence(pair -> true, -1, 0);
    }

    @Override
    public FenceReport fenceHole(int segment, int offset) {
        final int slot = offset / FrameDescriptor.STRIDE;
        final long holding = HazardWord.owning(segment, slot);
        return fence(pair -> pair.hazard().get() == holding, segment, slot);
    }

    /** Fences the selected senders, voids their slots, and the given one if it still is a hole. */
    private synchronized FenceReport fence(Predicate<LocalQueuePair> selected, int holeSegment, int holeSlot) {
        final Set<Integer> servers = new LinkedHashSet<>();
        int fencedPairs = 0;
        for (final LocalQueuePair pair : pairs) {
            if (!pair.isFenced() && selected.test(pair)) {
                pair.markFenced();
                servers.add(pair.senderId());
                fencedPairs++;
            }
        }
        Chaos.point("local.fence-marked");
        final long raised = ring.raiseEpoch();
        Chaos.point("local.fence-raised");
        final List<Long> voided = new ArrayList<>();
        try {
            helpLast(raised);
            Chaos.point("local.fence-helped");
            for (final LocalQueuePair pair : pairs) {
                if (pair.isFenced()) {
                    voidSlotOf(pair, voided);
                }
            }
            if (holeSegment >= 0) {
                fencerHazard.name(holeSegment);
                makeVoid(holeSegment, holeSlot, voided);
            }
        } finally {
            fencerHazard.clear();
        }
        replacePairs(pair -> !pair.isFenced() || pair.hazard().isSet());
        return new FenceReport(List.copyOf(servers), fencedPairs, voided, namingPairs());
    }

    /** If the ring word has changed since the epoch was raised, the change included the help. */
    private void helpLast(long raised) {
        if (RingWord.lastLength(raised) != 0) {
            final long posting = ring.posting(RingWord.ordinal(raised));
            fencerHazard.name(LandingRing.segment(posting));
            Chaos.point("local.fence-named");
            if (ring.word() == raised) {
                Chaos.point("local.fence-helps");
                ring.help(raised, posting);
            }
        }
    }

    private void voidSlotOf(LocalQueuePair pair, List<Long> voided) {
        final long hazard = pair.hazard().get();
        if (HazardWord.isOwning(hazard) && pair.isOn(ring)) {
            fencerHazard.name(HazardWord.segment(hazard));
            // Still set, so the segment was kept for the sender until it was named here too.
            if (pair.hazard().get() == hazard) {
                makeVoid(HazardWord.segment(hazard), HazardWord.offsetStrides(hazard), voided);
            }
        }
    }

    private void makeVoid(int segment, int slot, List<Long> voided) {
        if (ring.makeVoid(segment, slot)) {
            voided.add(ring.address(segment, slot));
        }
    }

    @Override
    public boolean isNamed(int segment) {
        for (final LocalQueuePair pair : pairs) {
            if (pair.hazard().names(segment)) {
                return true;
            }
        }
        return fencerHazard.names(segment);
    }

    private int namingPairs() {
        int count = 0;
        for (final LocalQueuePair pair : pairs) {
            if (pair.isFenced() && pair.hazard().isSet()) {
                count++;
            }
        }
        return count;
    }

    private void replacePairs(Predicate<LocalQueuePair> kept) {
        pairs = Arrays.stream(pairs).filter(kept).toArray(LocalQueuePair[]::new);
    }

    private long known(long ordinal) {
        if (!ring.isKnown(ordinal)) {
            throw new IllegalArgumentException("ordinal " + ordinal + " of " + ring.postedCount()
                    + " is not posted yet, or later ones have taken its slot");
        }
        return ordinal;
    }
}
