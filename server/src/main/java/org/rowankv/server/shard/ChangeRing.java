package org.rowankv.server.shard;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Change;
import org.rowankv.server.shard.ShardChanges.Kept;

/**
 * The newest changes of a shard, sorted by version. Bounded in number and in bytes, except that one change always fits.
 * A change that does not fit drops the oldest. Adding allocates nothing. Guarded by its user.
 */
final class ChangeRing {
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
     * Adds a change; one that is already present stays as it is: an interrupted hand-over is repeated.
     *
     * @param dropped receives each change that is dropped
     */
    void add(Kept kept, Consumer<Kept> dropped) {
        if (contains(kept.version())) {
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
        // Workers add in almost version order: at most as many steps as there are workers.
        int index = count;
        while (index > 0 && at(index - 1).version() > kept.version()) {
            slots[slot(index)] = at(index - 1);
            index--;
        }
        slots[slot(index)] = kept;
        count++;
        bytes += length;
    }

    private boolean contains(long version) {
        int index = count;
        while (index > 0 && at(index - 1).version() > version) {
            index--;
        }
        return index > 0 && at(index - 1).version() == version;
    }

    /** The index of the first change with a higher version; {@link #count} if there is none. */
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

    /**
     * The newest changes, in version order, as many as fit into so many bytes.
     *
     * @param dropped receives those that do not
     */
    List<Kept> newest(long mostBytes, Consumer<Kept> dropped) {
        int first = count;
        long room = mostBytes;
        while (first > 0 && at(first - 1).change().length() <= room) {
            first--;
            room -= at(first).change().length();
        }
        final List<Kept> newest = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            if (index < first) {
                dropped.accept(at(index));
            } else {
                newest.add(at(index));
            }
        }
        return newest;
    }

    /** Receives changes in version order. */
    interface Taker {
        /** False if the taker refuses this change and all later ones; it has not taken this one. */
        boolean take(Change change);
    }

    /**
     * Passes on a cache's changes with versions in (from, to]; returns the version up to which all of them were taken.
     */
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
