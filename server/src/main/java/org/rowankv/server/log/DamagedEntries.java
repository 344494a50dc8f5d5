package org.rowankv.server.log;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.ResultBits;

/**
 * The registry of damaged entries of one area. Readers consult it before they trust an entry; while nothing is damaged
 * that is one read of a word that is never written. In DRAM only: after a start the damage is detected again.
 *
 * <p>A segment is <i>suspect</i> when fewer entries were found in it than were written. The scrubber examines it. In
 * the end each missing entry is replaced, or is <i>lost</i> (needed, and on no replica), or is not needed. If nothing
 * is lost, the missing entries are <i>expected</i> from then on, and the segment may be cleaned. Otherwise it stays
 * <i>undecided</i>, and is examined again and again: a segment that is kept for ever keeps all later tombstones.
 * Thread-safe.
 */
public final class DamagedEntries {
    /** A use of a segment. */
    public record Suspect(int segment, int generation) {}

    private record Expected(int generation, int invalid, int missing) {}

    private final ConcurrentLinkedQueue<Suspect> suspects = new ConcurrentLinkedQueue<>();
    private final Set<Suspect> known = ConcurrentHashMap.newKeySet();
    private final Map<Integer, Expected> expected = new ConcurrentHashMap<>();
    /** Examined in vain: the number of the newest segment at that time. */
    private final Map<Suspect, Long> undecided = new ConcurrentHashMap<>();
    /** Examined in vain while they were written to, or not committed. */
    private final Set<Suspect> early = ConcurrentHashMap.newKeySet();
    /** By address, the bytes of what was replaced in uses that are not settled. */
    private final Map<Suspect, Map<Long, Integer>> replaced = new ConcurrentHashMap<>();
    /** By address, the generation of the segment. */
    private final Map<Long, Integer> lost = new ConcurrentHashMap<>();
    /** By address, the generation of the segment: what readers have reported. */
    private final Map<Long, Integer> reported = new ConcurrentHashMap<>();

    private volatile boolean anyLost;
    private final AtomicLong badEntries = new AtomicLong();
    private final AtomicLong replacedEntries = new AtomicLong();
    private final AtomicLong lostEntries = new AtomicLong();

    /** Fewer entries were found than were written. The use is examined once, until {@link #settled} or {@link #again}. */
    public void suspect(int segment, int generation) {
        final Suspect suspect = new Suspect(segment, generation);
        if (known.add(suspect)) {
            suspects.add(suspect);
        }
    }

    /**
     * Whether a reader that met a damaged entry is to report it: the first time in that use of its segment. Others that
     * meet it, and make the use suspect, report nothing.
     */
    public boolean isToBeReported(long address, int generation) {
        final Integer before = reported.put(address, generation);
        return before == null || before != generation;
    }

    /** Whether the segment's use is or was examined and may not be freed. */
    public boolean isSuspect(int segment, int generation) {
        return !known.isEmpty() && known.contains(new Suspect(segment, generation));
    }

    /** The next use to examine, or null. Called by the scrubber only. */
    public @Nullable Suspect poll() {
        Suspect next = suspects.poll();
        // It may have been added once more while it was examined, and be settled by now.
        while (next != null && !known.contains(next)) {
            next = suspects.poll();
        }
        return next;
    }

    /** Nothing missing in that use is needed: expects that many missing entries from now on. */
    public void settled(Suspect suspect, int invalid, int missing) {
        expected.put(suspect.segment(), new Expected(suspect.generation(), invalid, missing));
        undecided.remove(suspect);
        replaced.remove(suspect);
        examinedEarly(suspect);
    }

    /** What was needed is replaced in a use that is not committed yet: it is examined as a whole when it is. */
    public void examinedEarly(Suspect suspect) {
        early.remove(suspect);
        known.remove(suspect);
    }

    /** Records that the entry at an address is not needed there any more, and takes that many bytes. */
    public void replaced(Suspect suspect, long address, int bytes) {
        replaced.computeIfAbsent(suspect, unused -> new ConcurrentHashMap<>()).put(address, bytes);
    }

    /** What was replaced in a use since it was settled. */
    public Map<Long, Integer> replaced(Suspect suspect) {
        return replaced.getOrDefault(suspect, Map.of());
    }

    /** Something missing is needed, or may be. @param newest number of the newest segment: all that is missing is older */
    public void undecided(Suspect suspect, long newest) {
        undecided.putIfAbsent(suspect, newest);
    }

    /** Something needed is missing in a use that is not committed yet. */
    public void inVain(Suspect suspect) {
        early.add(suspect);
    }

    /** All such uses are examined once more. Called now and then. */
    public void againEarly() {
        for (Suspect suspect : early) {
            again(suspect.segment(), suspect.generation());
        }
    }

    /** The newest segment when that use was first examined in vain; 0 if it was not. */
    public long undecidedSince(Suspect suspect) {
        return undecided.getOrDefault(suspect, 0L);
    }

    /** That use is examined once more, if it was examined in vain: what is missing may have been replaced since. */
    public void again(int segment, int generation) {
        final Suspect suspect = new Suspect(segment, generation);
        if ((undecided.containsKey(suspect) || early.contains(suspect)) && !suspects.contains(suspect)) {
            suspects.add(suspect);
        }
    }

    /** Whether what is missing in that use of a segment is expected: normally nothing. */
    public boolean isAsExpected(int segment, int generation, int invalid, int missing) {
        if (invalid == 0 && missing <= 0) {
            return true;
        }
        final Expected known = expected.get(segment);
        return known != null && known.generation == generation && known.invalid == invalid && known.missing == missing;
    }

    /** Counts an entry found damaged for the first time. */
    public void countBad() {
        badEntries.incrementAndGet();
    }

    /** Counts one that was replaced by a copy from another replica. */
    public void countReplaced() {
        replacedEntries.incrementAndGet();
    }

    /** Records that an entry the index points to is damaged, and no other copy exists. */
    public void lost(long address, int generation) {
        final Integer before = lost.put(address, generation);
        if (before == null || before != generation) { // else it was examined once more
            lostEntries.incrementAndGet();
        }
        anyLost = true;
    }

    /** Nothing from that address up to the other one is lost any more: it was written anew, or is not needed. */
    public void found(long from, long to) {
        lost.keySet().removeIf(address -> address >= from && address < to);
    }

    /**
     * The result bits of an answer that an entry is damaged: whether it may be replaced from another replica soon. Not if
     * its use of the segment was examined in vain.
     */
    public int answerBits(int segment, long address, int generation) {
        final Suspect use = new Suspect(segment, generation);
        return isLost(address, generation) || undecided.containsKey(use) || early.contains(use)
                ? 0
                : ResultBits.REPAIRABLE;
    }

    /** Whether the entry at that address, in that use of its segment, is known to be damaged. For every reader. */
    public boolean isLost(long address, int generation) {
        if (!anyLost) {
            return false;
        }
        final Integer of = lost.get(address);
        return of != null && of == generation;
    }

    /** Entries found damaged since the start. */
    public long badEntries() {
        return badEntries.get();
    }

    /** Of those, replaced. */
    public long replacedEntries() {
        return replacedEntries.get();
    }

    /** Of those, needed and on no replica; also those that were written anew since. */
    public long lostEntries() {
        return lostEntries.get();
    }
}
