package org.rowankv.server.recovery;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Set;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;

/**
 * The entries found by a scan that may not be on all replicas: version and address, sixteen bytes each. Entries that a
 * newer CommitVer covers are dropped before an array grows. Used by one thread.
 */
final class Candidates {
    private static final int WORDS = 2;
    private static final int FIRST = 64 * WORDS;

    private final Segments segments;
    private final Replicas replicas;
    private final long[] @Nullable [] entries;
    private final int[] used;
    private @Nullable BitSet referredTo;
    private LongConsumer onCommitted = address -> {};

    Candidates(Segments segments, Replicas replicas) {
        this.segments = segments;
        this.replicas = replicas;
        this.entries = new long[replicas.shardCount()] @Nullable [];
        this.used = new int[replicas.shardCount()];
    }

    /** From now on receives the addresses of entries that are dropped because a CommitVer covers them. */
    void onCommitted(LongConsumer dropped) {
        onCommitted = dropped;
    }

    void add(int shard, long version, long address) {
        long[] array = entries[shard];
        if (array == null) {
            array = new long[FIRST];
            entries[shard] = array;
        }
        if (used[shard] == array.length) {
            dropCommitted(shard, array, replicas.get(shard).commitVersion());
            if (used[shard] > array.length / 2) {
                array = Arrays.copyOf(array, 2 * array.length);
                entries[shard] = array;
            }
        }
        array[used[shard]] = version;
        array[used[shard] + 1] = address;
        used[shard] += WORDS;
        referredTo = null;
    }

    private void dropCommitted(int shard, long[] array, long commitVersion) {
        int kept = 0;
        for (int i = 0; i < used[shard]; i += WORDS) {
            if (array[i] > commitVersion) {
                array[kept] = array[i];
                array[kept + 1] = array[i + 1];
                kept += WORDS;
            } else {
                onCommitted.accept(array[i + 1]);
            }
        }
        used[shard] = kept;
    }

    /** Adds a shard's versions above that version. */
    void addAbove(int shard, long commitVersion, Set<Long> above) {
        final long[] array = entries[shard];
        for (int i = 0; array != null && i < used[shard]; i += WORDS) {
            if (array[i] > commitVersion) {
                above.add(array[i]);
            }
        }
    }

    /** The present address of an entry; 0 if it is not a candidate. */
    long addressOf(int shard, long version) {
        final long[] array = entries[shard];
        for (int i = 0; array != null && i < used[shard]; i += WORDS) {
            if (array[i] == version) {
                return array[i + 1];
            }
        }
        return 0;
    }

    /** Drops all entries of a shard except those of these versions. */
    void keepOnly(int shard, Set<Long> versions, LongConsumer forgotten) {
        final long[] array = entries[shard];
        int kept = 0;
        for (int i = 0; array != null && i < used[shard]; i += WORDS) {
            if (versions.contains(array[i])) {
                array[kept] = array[i];
                array[kept + 1] = array[i + 1];
                kept += WORDS;
            } else {
                forgotten.accept(array[i + 1]);
            }
        }
        used[shard] = kept;
        referredTo = null;
        if (kept == 0) {
            entries[shard] = null;
        }
    }

    /** Visits the entries of a segment. */
    void forEachIn(int segment, Visitor visitor) {
        forEach((address, shard, place) -> {
            if (segments.segmentOf(address) == segment) {
                visitor.onEntry(address, shard, place);
            }
        });
    }

    void forEach(Visitor visitor) {
        for (int shard = 0; shard < used.length; shard++) {
            final long[] array = entries[shard];
            for (int i = 0; array != null && i < used[shard]; i += WORDS) {
                visitor.onEntry(array[i + 1], shard, i);
            }
        }
    }

    /** The entry at that index of the shard, as passed to a visitor, has another address now. */
    void moved(int shard, int place, long to) {
        final long[] array = entries[shard];
        if (array == null || place >= used[shard]) {
            throw new AssertionError("no entry " + place + " of shard " + shard);
        }
        array[place + 1] = to;
        referredTo = null;
    }

    /** Receives entries. */
    @FunctionalInterface
    interface Visitor {
        void onEntry(long address, int shard, int place);
    }

    /** Whether one of them lies in that segment. */
    boolean isReferredTo(int segment) {
        BitSet found = referredTo;
        if (found == null) {
            found = new BitSet();
            for (int shard = 0; shard < used.length; shard++) {
                final long[] array = entries[shard];
                for (int i = 0; array != null && i < used[shard]; i += WORDS) {
                    found.set(segments.segmentOf(array[i + 1]));
                }
            }
            referredTo = found;
        }
        return found.get(segment);
    }

    void clear() {
        Arrays.fill(entries, null);
        Arrays.fill(used, 0);
        referredTo = null;
    }
}
