package org.rowankv.server.shard;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.PartList;

/**
 * The parts of values in one shard, on its primary: whose values have ended, so that an agent removes them, and which ids
 * are being put or collected. An id is never <i>pinned</i> by the put of its list and <i>condemned</i> as an orphan at once: so no list
 * takes effect whose parts are being removed.
 *
 * <p>Only in DRAM: what a restart forgets is found as orphans. Thread-safe; every call is short.
 */
public final class ShardParts {
    /** Values that have ended beyond this number are found as orphans. */
    static final int MAX_ENDED = 1 << 14;

    /**
     * Parts whose value has ended.
     *
     * @param partsId cache id of the parts
     * @param count parts with the numbers 0 to count − 1 may be there
     * @param sinceNs when the value ended, by the interval clock
     */
    public record Ended(int partsId, long id, int count, long sinceNs) {}

    private final ArrayDeque<Ended> ended = new ArrayDeque<>();
    private final Map<Long, Integer> pins = new HashMap<>();
    private final Set<Long> condemned = new HashSet<>();
    /** With those that were taken. Written under the monitor. */
    private volatile int endedCount;

    /** A list is about to be put; false if its parts are being collected. Undone by {@link #unpin}. */
    public synchronized boolean pin(long id) {
        if (condemned.contains(id)) {
            return false;
        }
        pins.merge(id, 1, Integer::sum);
        return true;
    }

    /** The put of a list has ended, in whatever way. */
    public synchronized void unpin(long id) {
        pins.computeIfPresent(id, (key, count) -> count == 1 ? null : count - 1);
    }

    /** No list with that id is put from now on; false if one is being put. */
    public synchronized boolean condemn(long id) {
        if (pins.containsKey(id)) {
            return false;
        }
        condemned.add(id);
        return true;
    }

    /** A list with that id was found, or its parts are gone: then a put finds them missing. */
    public synchronized void acquit(long id) {
        condemned.remove(id);
    }

    /** A list was ended or replaced. */
    public synchronized void ended(int partsId, PartList list, long nowNs) {
        if (endedCount < MAX_ENDED) {
            ended.add(new Ended(partsId, list.id(), list.count(), nowNs));
            endedCount++;
        }
    }

    /** Orphans are to be removed, before all others. */
    public synchronized void orphaned(Ended orphans) {
        ended.addFirst(orphans);
        endedCount++;
    }

    /**
     * Takes the value that ended first, if it ended by that time; else null. It is waiting until {@link #removed}.
     *
     * @param untilNs by the interval clock
     */
    public synchronized @Nullable Ended take(long untilNs) {
        final Ended first = ended.peekFirst();
        if (first == null || first.sinceNs() - untilNs > 0) {
            return null;
        }
        return ended.removeFirst();
    }

    /** Those parts, which were taken, are removed. */
    public synchronized void removed(Ended parts) {
        condemned.remove(parts.id());
        endedCount--;
    }

    /** Whether parts wait for their removal. Any thread, no lock. */
    public boolean isWaiting() {
        return endedCount > 0;
    }
}
