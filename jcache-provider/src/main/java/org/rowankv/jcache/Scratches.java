package org.rowankv.jcache;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The scratches of one cache: one is borrowed for one operation, by compare-and-set at a place that the thread's id gives,
 * so that a thread mostly meets its own. When the places near it are empty a new one is made. Thread-safe.
 */
final class Scratches {
    private static final int SPACING = 16; // references between two places: their own cache lines
    private static final int TRIES = 2;

    private final AtomicReferenceArray<@Nullable Scratch> places;
    private final int mask;
    private final int cacheId;

    Scratches(int cacheId, int processors) {
        final int count = Integer.highestOneBit(Math.max(1, 2 * processors - 1)) << 1;
        this.cacheId = cacheId;
        this.places = new AtomicReferenceArray<>(count * SPACING);
        this.mask = count - 1;
    }

    Scratch borrow() {
        final int first = (int) Thread.currentThread().getId();
        for (int i = 0; i < TRIES; i++) {
            final int place = (first + i & mask) * SPACING;
            final Scratch scratch = places.getPlain(place);
            if (scratch != null && places.compareAndSet(place, scratch, null)) {
                return scratch;
            }
        }
        return new Scratch((first & mask) * SPACING, cacheId);
    }

    void giveBack(Scratch scratch) {
        scratch.trim();
        places.setRelease(scratch.home(), scratch);
    }
}
