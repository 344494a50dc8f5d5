package org.rowankv.server.log;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/**
 * The closed segments of earlier tenures of all shards. Nothing in them counts, so they hold back neither space nor
 * tombstones, are not cleaned and not scrubbed. Yet some of it may be what this server lacks now: each stays until it was
 * looked through, or free segments are few.
 *
 * <p>Filled before the server's agents run, then owned by their thread.
 */
public final class FormerSegments {
    private final Segments segments;
    private final BitSet kept = new BitSet();

    FormerSegments(Segments segments) {
        this.segments = segments;
    }

    /** Nothing in that closed segment counts any more, and it stays. */
    public void keep(int segment) {
        segments.endAll(segment);
        kept.set(segment);
    }

    public boolean isKept(int segment) {
        return kept.get(segment);
    }

    /** That segment was looked through. If a reader has pinned it, the cleaner frees it later. */
    public void free(int segment) {
        if (kept.get(segment)) {
            kept.clear(segment);
            segments.freeUnlessPinned(segment);
        }
    }

    /** Gives up what has been kept longest; false if nothing is. */
    public boolean freeOldest() {
        final List<Integer> newestFirst = newestFirst();
        if (newestFirst.isEmpty()) {
            return false;
        }
        free(newestFirst.get(newestFirst.size() - 1));
        return true;
    }

    /** Whether none is kept. */
    public boolean isEmpty() {
        return kept.isEmpty();
    }

    /** Those that are kept, the newest first. */
    public List<Integer> newestFirst() {
        final List<Integer> all = new ArrayList<>();
        kept.stream().forEach(all::add);
        all.sort(Comparator.comparingLong(segments::use).reversed());
        return all;
    }
}
