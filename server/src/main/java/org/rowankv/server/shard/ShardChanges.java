package org.rowankv.server.shard;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.Chaos;

/**
 * The changes of one shard at its primary, of those caches that somebody wants to hear of. Nobody: a write looks at one field, and
 * that is all. Somebody: committed changes are handed over before their version counts as finished, so that whoever computes a
 * bound of what is finished, and reads up to there, misses none and sees them in the order of their versions.
 *
 * <p>Each cache has a floor: of what happened up to there some may be missing. Who asks from below it is told. Memory is bounded,
 * by dropping the oldest and raising the floor; a reader that is slow loses, a writer never waits for one. What nobody has asked
 * for during the lease is not kept any longer. Thread-safe.
 */
public final class ShardChanges {
    /** Nobody wants to hear of it. */
    public static final int UNWANTED = 0;
    /** Somebody wants to hear of it, nobody of its old value. */
    public static final int WANTED = 1;

    public static final int WANTED_WITH_OLD_VALUE = 2;

    /** How long changes are kept for somebody who does not ask again: time to connect anew. */
    public static final long LEASE_NS = 60_000_000_000L;

    /** Caches of which changes are kept at once. */
    static final int MAX_CACHES = 1_024;

    private static final int MAX_CHANGES = 4_096;
    private static final int SHARE_OF_HEAP = 32;
    private static final long LEAST_BYTES = 64 << 10;
    private static final long MOST_BYTES = 4 << 20;

    private static final class Interest {
        private boolean oldValues;
        private long floor;
        /** Somebody has asked since {@link #endLapsed} looked the last time. */
        private boolean renewed;

        private long untilNs;
    }

    /** What a reader is told. */
    public static final class Reading {
        private final List<Change> changes = new ArrayList<>();
        private long lostTo;
        private long to;

        /** In the order of their versions. */
        public List<Change> changes() {
            return changes;
        }

        /** 0, or the version up to which changes after the reader's position may be missing. */
        public long lostTo() {
            return lostTo;
        }

        /** The reader's next position. */
        public long to() {
            return to;
        }
    }

    private final int maxChanges;
    private final long maxBytes;
    private final List<Runnable> watchers = new CopyOnWriteArrayList<>();

    /** Pairs of a cache's id and how it is wanted, by id; null: nothing is. */
    private volatile int @Nullable [] wanted;

    /** The highest version of which there is something to tell. */
    private volatile long newest;

    // --- guarded by this ---
    private final Map<Integer, Interest> interests = new TreeMap<>();
    private @Nullable ChangeRing ring;

    /** @param shardCount of the store, which share what memory there is for changes */
    public ShardChanges(int shardCount) {
        this(
                MAX_CHANGES,
                Math.min(
                        MOST_BYTES,
                        Math.max(LEAST_BYTES, Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP / shardCount)));
    }

    /** With other bounds. */
    public ShardChanges(int maxChanges, long maxBytes) {
        this.maxChanges = maxChanges;
        this.maxBytes = maxBytes;
    }

    // --- who writes ---

    /**
     * Whether a change in that cache is to be handed over. Whoever asks after it has taken its version, and before that version
     * counts as finished, hands over all that anybody who asked before that may miss.
     */
    public int wanted(int cacheId) {
        final int[] now = wanted;
        return now == null ? UNWANTED : find(now, cacheId);
    }

    private static int find(int[] pairs, int cacheId) {
        int low = 0;
        int high = pairs.length / 2 - 1;
        while (low <= high) {
            final int middle = (low + high) >>> 1;
            final int found = pairs[2 * middle];
            if (found == cacheId) {
                return pairs[2 * middle + 1];
            }
            if (found < cacheId) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return UNWANTED;
    }

    /** A change has been committed, and its version does not count as finished yet. Allocates hardly anything. */
    public void add(int cacheId, Change change) {
        Chaos.point("stream.before-add");
        synchronized (this) {
            final ChangeRing kept = ring;
            if (kept == null || !interests.containsKey(cacheId)) {
                return;
            }
            kept.add(new ChangeRing.Kept(cacheId, change), dropped -> raiseFloor(dropped.cacheId(), dropped.version()));
        }
        happened(change.version());
    }

    /** A change of that version has been committed, and could not be kept. */
    public void lost(int cacheId, long version) {
        synchronized (this) {
            raiseFloor(cacheId, version);
        }
        happened(version);
    }

    private void raiseFloor(int cacheId, long version) {
        final Interest interest = interests.get(cacheId);
        if (interest != null && interest.floor < version) {
            interest.floor = version;
        }
    }

    private void happened(long version) {
        synchronized (this) {
            newest = Math.max(newest, version);
        }
        for (Runnable watcher : watchers) {
            watcher.run();
        }
    }

    // --- who reads ---

    /** Begins to tell of each change, once for each watcher. It is called by whoever writes, and must not wait. */
    public void watch(Runnable watcher) {
        if (!watchers.contains(watcher)) {
            watchers.add(watcher);
        }
    }

    public void unwatch(Runnable watcher) {
        watchers.remove(watcher);
    }

    /** The highest version of which there is something to tell, to whomever. */
    public long newest() {
        return newest;
    }

    /**
     * Somebody wants to hear of a cache's changes: keeps them from now on, for a lease.
     *
     * @param last gives the shard's last version
     * @return a version such that all changes with higher ones are kept, with their old values if they are wanted;
     *     {@link Version#NONE} if there are too many caches
     */
    public synchronized long want(int cacheId, boolean oldValues, LongSupplier last) {
        Interest interest = interests.get(cacheId);
        if (interest == null) {
            if (interests.size() >= MAX_CACHES) {
                return Version.NONE;
            }
            interest = new Interest();
            if (ring == null) {
                ring = new ChangeRing(maxChanges, maxBytes);
            }
            interests.put(cacheId, interest);
            interest.oldValues = oldValues;
            publish();
            // Read afterwards: whoever takes a higher version looks at what is wanted after this.
            interest.floor = last.getAsLong();
        } else if (oldValues && !interest.oldValues) {
            interest.oldValues = true;
            publish();
        }
        interest.renewed = true;
        return last.getAsLong();
    }

    private void publish() {
        if (interests.isEmpty()) {
            wanted = null;
            ring = null;
            return;
        }
        final int[] pairs = new int[2 * interests.size()];
        int at = 0;
        for (Map.Entry<Integer, Interest> each : interests.entrySet()) {
            pairs[at++] = each.getKey();
            pairs[at++] = each.getValue().oldValues ? WANTED_WITH_OLD_VALUE : WANTED;
        }
        wanted = pairs;
    }

    /**
     * What happened in a cache after a position, as far as it is finished.
     *
     * @param finished a version up to which everything has been handed over, computed before this is called
     * @param maxBytes what the changes have together at most, but for the first
     */
    public synchronized Reading read(int cacheId, long position, long finished, long maxBytes) {
        final Reading reading = new Reading();
        final Interest interest = interests.get(cacheId);
        final ChangeRing kept = ring;
        reading.to = position;
        if (interest == null || kept == null) {
            return reading; // lapsed: to be wanted again, with another floor
        }
        long from = position;
        if (position < interest.floor) {
            reading.lostTo = interest.floor;
            from = interest.floor;
        }
        final long[] room = {maxBytes};
        reading.to = kept.read(cacheId, from, finished, change -> {
            if (!reading.changes.isEmpty() && room[0] < change.length()) {
                return false;
            }
            room[0] -= change.length();
            return reading.changes.add(change);
        });
        return reading;
    }

    /**
     * The same for the next epoch of the shard, of which this server is the primary again: what was kept stays, and is kept on.
     * Afterwards this one keeps nothing any more. Nobody adds to it, or reads it, meanwhile.
     *
     * @param last the last version that was given out here
     * @param finished a version up to which everything has been handed over; what is behind it may take effect yet, or not, and
     *     counts as lost
     * @return null if nobody wants to hear of anything
     */
    public synchronized @Nullable ShardChanges continued(long last, long finished) {
        if (interests.isEmpty()) {
            return null;
        }
        final ShardChanges next = new ShardChanges(maxChanges, maxBytes);
        synchronized (next) {
            next.newest = newest;
            next.ring = ring;
            interests.forEach((cacheId, interest) -> {
                if (finished < last) {
                    interest.floor = Math.max(interest.floor, last);
                }
                interest.renewed = true; // who wants to hear of it could not ask while nobody served
                next.interests.put(cacheId, interest);
            });
            next.publish();
        }
        interests.clear();
        publish();
        return next;
    }

    /** Ends what nobody has asked for during its lease. Called again and again by one thread, whose clock counts. */
    public void endLapsed(long nowNs) {
        if (wanted == null) {
            return;
        }
        synchronized (this) {
            boolean ended = false;
            for (Iterator<Interest> all = interests.values().iterator(); all.hasNext(); ) {
                final Interest each = all.next();
                if (each.renewed) {
                    each.renewed = false;
                    each.untilNs = nowNs + LEASE_NS;
                } else if (each.untilNs - nowNs < 0) {
                    all.remove();
                    ended = true;
                }
            }
            if (ended) {
                publish();
            }
        }
    }
}
