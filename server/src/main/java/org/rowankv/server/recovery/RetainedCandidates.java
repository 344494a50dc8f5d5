package org.rowankv.server.recovery;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.cleaning.RetainedEntries;
import org.rowankv.server.log.Segments;

/**
 * The candidates of the collect while a start cleans. They move with copied entries; dead ones are copied too and count
 * as alive until the start ends. So no candidate keeps a segment from being cleaned, and a segment full of dead
 * candidates does not seem worth cleaning. Used by the thread of the recovered server.
 */
final class RetainedCandidates implements RetainedEntries {
    private record Place(Candidates of, int shard, int place) {}

    private final Segments segments;
    private final List<SegmentReader> readers;
    /** Lengths by address. */
    private final Map<Long, Integer> dead = new HashMap<>();
    /** Of the segment that is being cleaned, by address. */
    private final Map<Long, Place> inVictim = new HashMap<>();

    private boolean holding;

    /** @param readers that have found the candidates; more may be added */
    RetainedCandidates(Segments segments, List<SegmentReader> readers) {
        this.segments = segments;
        this.readers = readers;
    }

    /** From now on until {@link #end}, dead candidates count as alive. Checks each candidate once. */
    void hold() {
        if (holding) {
            return;
        }
        holding = true;
        for (SegmentReader reader : readers) {
            // A dropped candidate is not copied, and its address may soon hold another entry.
            reader.candidates().onCommitted(this::release);
            reader.candidates().forEach((address, shard, place) -> {
                if (reader.isDead(address)) {
                    final int length = lengthAt(address);
                    if (dead.put(address, length) == null) {
                        segments.markAlive(address, length);
                    }
                }
            });
        }
    }

    private int lengthAt(long address) {
        return FrameDescriptor.length(FrameDescriptor.wordPlain(
                segments.region().buffer(address), segments.region().offset(address)));
    }

    /** Only these versions of a shard's candidates are still needed. */
    void keepOnly(int shard, Set<Long> versions) {
        for (SegmentReader reader : readers) {
            reader.candidates().keepOnly(shard, versions, this::release);
        }
    }

    private void release(long address) {
        final Integer length = dead.remove(address);
        if (length != null) {
            segments.markDead(address, length);
        }
    }

    /** The replicas agree. */
    void end() {
        dead.forEach((address, length) -> segments.markDead(address, length));
        dead.clear();
        inVictim.clear();
        readers.forEach(each -> each.candidates().clear());
    }

    @Override
    public void begin(int segment) {
        inVictim.clear();
        for (SegmentReader reader : readers) {
            final Candidates candidates = reader.candidates();
            candidates.forEachIn(
                    segment, (address, shard, place) -> inVictim.put(address, new Place(candidates, shard, place)));
        }
    }

    @Override
    public boolean isKept(long address) {
        return inVictim.containsKey(address);
    }

    @Override
    public void moved(long from, long to) {
        final Place place = inVictim.get(from);
        if (place != null) {
            place.of.moved(place.shard, place.place, to);
            release(from); // if the victim is not freed now, nothing of the entry is alive there
        }
    }

    @Override
    public void copiedDead(long copy, int length) {
        dead.put(copy, length);
    }
}
