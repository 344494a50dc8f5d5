package org.rowankv.server.log;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What is known of entries in one area that were whole once and are not any more. Readers ask here before they believe an
 * entry; as long as nothing is damaged that is one read of a word that nobody writes. In DRAM only: after
 * a start, who comes upon it finds it again.
 *
 * <p>A segment is <i>suspect</i> when somebody found fewer entries in it than were written. The scrubber looks into it; in
 * the end each missing entry was replaced, or is <i>lost</i>: needed, and nowhere to be had; or it turned out that nobody
 * misses it. Where nothing is lost, what is missing is <i>expected</i> from then on, and the segment may be cleaned.
 * Thread-safe.
 */
public final class DamagedEntries {
    /** A use of a segment. */
    public record Suspect(int segment, int generation) {}

    private record Expected(int generation, int invalid, int missing) {}

    private final ConcurrentLinkedQueue<Suspect> suspects = new ConcurrentLinkedQueue<>();
    private final Set<Suspect> known = ConcurrentHashMap.newKeySet();
    private final Map<Integer, Expected> expected = new ConcurrentHashMap<>();
    /** By address, the generation of the segment. */
    private final Map<Long, Integer> lost = new ConcurrentHashMap<>();

    private volatile boolean anyLost;
    private final AtomicLong badEntries = new AtomicLong();
    private final AtomicLong replacedEntries = new AtomicLong();

    /** Somebody found fewer entries than were written. Looked into once, until {@link #settled}. */
    public void suspect(int segment, int generation) {
        final Suspect suspect = new Suspect(segment, generation);
        if (known.add(suspect)) {
            suspects.add(suspect);
        }
    }

    /** Whether the segment's use is, or was, looked into and may not be freed. */
    public boolean isSuspect(int segment, int generation) {
        return !known.isEmpty() && known.contains(new Suspect(segment, generation));
    }

    /** The next to look into, or null. The scrubber's only. */
    public @org.jspecify.annotations.Nullable Suspect poll() {
        return suspects.poll();
    }

    /** Nothing that is missing in that use is needed: so much may be missing from now on. */
    public void settled(Suspect suspect, int invalid, int missing) {
        expected.put(suspect.segment(), new Expected(suspect.generation(), invalid, missing));
        known.remove(suspect);
    }

    /** Whether what is missing in that use of a segment is what nobody misses: in general nothing. */
    public boolean isAsExpected(int segment, int generation, int invalid, int missing) {
        if (invalid == 0 && missing <= 0) {
            return true;
        }
        final Expected known = expected.get(segment);
        return known != null && known.generation == generation && known.invalid == invalid && known.missing == missing;
    }

    /** An entry was found bad for the first time. */
    public void countBad() {
        badEntries.incrementAndGet();
    }

    /** One of them was replaced by a copy from another replica. */
    public void countReplaced() {
        replacedEntries.incrementAndGet();
    }

    /** An entry that the index points to is bad, and there is no other copy of it. */
    public void lost(long address, int generation) {
        lost.put(address, generation);
        anyLost = true;
    }

    /** Whether the entry at that address, in that use of its segment, is known to be bad. For every reader. */
    public boolean isLost(long address, int generation) {
        if (!anyLost) {
            return false;
        }
        final Integer of = lost.get(address);
        return of != null && of == generation;
    }

    /** Entries found bad since the start. */
    public long badEntries() {
        return badEntries.get();
    }

    /** Of those, replaced. */
    public long replacedEntries() {
        return replacedEntries.get();
    }

    /** Of those, needed and nowhere to be had. */
    public long lostEntries() {
        return lost.size();
    }
}
