package org.rowankv.server.shard;

/**
 * The deletions of a shard that the index must still hold, oldest first: a late copy of an older entry of the key must
 * find them there. They are forgotten once CommitVer has passed them. Guarded by its monitor, which is taken before the
 * index's lock, never while that is held.
 */
public final class TombstoneMap {
    /** Removes a forgotten deletion from the index, if it is still there. */
    @FunctionalInterface
    public interface Remover {
        void remove(long position, long address, long version);
    }

    private static final int WORDS = 3;

    private long[] ring = new long[64 * WORDS];
    private int first;
    /** Changed under the lock. */
    private volatile int size;

    private long forgottenUpTo;

    synchronized void remember(long position, long address, long version) {
        if ((size + 1) * WORDS > ring.length) {
            grow();
        }
        final int at = (first + size) * WORDS % ring.length;
        ring[at] = position;
        ring[at + 1] = address;
        ring[at + 2] = version;
        size = size + 1;
    }

    private void grow() {
        final long[] longer = new long[ring.length * 2];
        for (int i = 0; i < size * WORDS; i++) {
            longer[i] = ring[(first * WORDS + i) % ring.length];
        }
        ring = longer;
        first = 0;
    }

    /** Relocates a deletion for the cleaner, whether it is in this map or not: index and map change together. */
    synchronized boolean relocate(long from, long to, java.util.function.BooleanSupplier relocation) {
        if (!relocation.getAsBoolean()) {
            return false;
        }
        for (int i = 0; i < size; i++) {
            final int at = (first + i) * WORDS % ring.length;
            if (ring[at + 1] == from) {
                ring[at + 1] = to;
                break;
            }
        }
        return true;
    }

    synchronized int forget(long commitVersion, Remover remover) {
        int forgotten = 0;
        // Nearly in version order: one out of order only delays those behind it.
        while (size > 0 && ring[first * WORDS + 2] <= commitVersion) {
            final int at = first * WORDS;
            forgottenUpTo = Math.max(forgottenUpTo, ring[at + 2]);
            remover.remove(ring[at], ring[at + 1], ring[at + 2]);
            first = (first + 1) % (ring.length / WORDS);
            size = size - 1;
            forgotten++;
        }
        return forgotten;
    }

    /** Deletions up to that version may be forgotten: the log was read, and they may be missing from it. */
    synchronized void forgetUnseen(long version) {
        forgottenUpTo = Math.max(forgottenUpTo, version);
    }

    /** No deletion with a larger version was forgotten. */
    public synchronized long forgottenUpTo() {
        return forgottenUpTo;
    }

    public int size() {
        return size;
    }
}
