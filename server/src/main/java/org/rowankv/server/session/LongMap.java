package org.rowankv.server.session;

import org.jspecify.annotations.Nullable;

/** A map from long keys other than 0, by open addressing; a lookup allocates nothing. Not thread-safe. */
final class LongMap<V> {
    private long[] keys = new long[4];
    private @Nullable Object[] values = new @Nullable Object[4];
    private int size;

    private int slotOf(long key) {
        final int mask = keys.length - 1;
        int slot = (int) ((key * 0x9e3779b97f4a7c15L) >>> 40) & mask;
        while (keys[slot] != 0 && keys[slot] != key) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    @SuppressWarnings("unchecked")
    @Nullable
    V get(long key) {
        return (V) values[slotOf(key)];
    }

    void put(long key, V value) {
        if (key == 0) {
            throw new IllegalArgumentException("0 is no key");
        }
        if (size * 2 >= keys.length) {
            grow();
        }
        final int slot = slotOf(key);
        if (keys[slot] == 0) {
            keys[slot] = key;
            size++;
        }
        values[slot] = value;
    }

    @Nullable
    V remove(long key) {
        final int mask = keys.length - 1;
        int hole = slotOf(key);
        final V removed = get(key);
        if (removed == null) {
            return null;
        }
        size--;
        // Close the gap: keys that probed past it must stay reachable.
        int next = hole;
        while (true) {
            keys[hole] = 0;
            values[hole] = null;
            do {
                next = (next + 1) & mask;
                if (keys[next] == 0) {
                    return removed;
                }
            } while (staysReachable((int) ((keys[next] * 0x9e3779b97f4a7c15L) >>> 40) & mask, hole, next));
            keys[hole] = keys[next];
            values[hole] = values[next];
            hole = next;
        }
    }

    private static boolean staysReachable(int home, int hole, int at) {
        return hole <= at ? hole < home && home <= at : hole < home || home <= at;
    }

    private void grow() {
        final long[] oldKeys = keys;
        final @Nullable Object[] oldValues = values;
        keys = new long[oldKeys.length * 2];
        values = new @Nullable Object[oldKeys.length * 2];
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != 0) {
                final int slot = slotOf(oldKeys[i]);
                keys[slot] = oldKeys[i];
                values[slot] = oldValues[i];
            }
        }
    }

    int size() {
        return size;
    }

    /** Slots for {@link #keyAt}; valid until the next change. */
    int slots() {
        return keys.length;
    }

    /** The key in that slot, or 0. */
    long keyAt(int slot) {
        return keys[slot];
    }

    long[] keys() {
        final long[] present = new long[size];
        int count = 0;
        for (long key : keys) {
            if (key != 0) {
                present[count++] = key;
            }
        }
        return present;
    }
}
