package org.rowankv.server.shard;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Change;

/**
 * The newest changes of a shard, sorted by version: bounded in number and in bytes, except that one always fits. What does not fit
 * drops the oldest. Adding allocates nothing. Guarded by its user.
 */
final class ChangeRing {
    /** A change, and the cache it was made in. */
    record Kept(int cacheId, Change change) {
        long version() {
            return change.version();
        }
    }

    private final @Nullable Kept[] slots;
    private final long maxBytes;
    private int head;
    private int count;
    private long bytes;

    ChangeRing(int maxChanges, long maxBytes) {
        this.slots = new @Nullable Kept[maxChanges];
        this.maxBytes = maxBytes;
    }

    private int slot(int index) {
        final int at = head + index;
        return at < slots.length ? at : at - slots.length;
    }

    private Kept at(int index) {
        final Kept kept = slots[slot(index)];
        if (kept == null) {
            throw new AssertionError("no change at " + index + " of " + count);
        }
        return kept;
    }

    /**
     * Adds a change; one that is there already, because whoever handed it over was interrupted and did it again, stays as it is.
     *
     * @param dropped told of each change that had to go
     */
    void add(Kept kept, Consumer<Kept> dropped) {
        if (isThere(kept.version())) {
            return;
        }
        final long length = kept.change().length();
        while (count > 0 && (count == slots.length || bytes + length > maxBytes)) {
            final Kept oldest = at(0);
            slots[head] = null;
            head = slot(1);
            count--;
            bytes -= oldest.change().length();
            dropped.accept(oldest);
        }
        // Workers hand over in almost the order of their versions: as many steps as there are workers, at most.
        int index = count;
        while (index > 0 && at(index - 1).version() > kept.version()) {
            slots[slot(index)] = at(index - 1);
            index--;
        }
        slots[slot(index)] = kept;
        count++;
        bytes += length;
    }

    private boolean isThere(long version) {
        int index = count;
        while (index > 0 && at(index - 1).version() > version) {
            index--;
        }
        return index > 0 && at(index - 1).version() == version;
    }

    /** Where the first change with a higher version is; {@link #count} if there is none. */
    private int firstAfter(long version) {
        int low = 0;
        int high = count;
        while (low < high) {
            final int middle = (low + high) >>> 1;
            if (at(middle).version() > version) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /** Takes changes in the order of their versions. */
    interface Taker {
        /** Whether it wants more; if not, it has not taken this one. */
        boolean take(Change change);
    }

    /** Hands on a cache's changes with versions in (from, to]; the version up to which all of them were taken. */
    long read(int cacheId, long from, long to, Taker taker) {
        long done = from;
        for (int index = firstAfter(from); index < count && at(index).version() <= to; index++) {
            final Kept kept = at(index);
            if (kept.cacheId() == cacheId && !taker.take(kept.change())) {
                return done;
            }
            done = kept.version();
        }
        return Math.max(from, to);
    }
}
