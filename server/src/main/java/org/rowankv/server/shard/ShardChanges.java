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
 * The change stream of one shard at its primary, for the caches with subscribers. Without a subscriber a write reads
 * one field and no more. With one, a writer adds a committed change before its version counts as finished. So a reader
 * that computes a finished bound, and reads up to it, misses none and gets them in version order.
 *
 * <p>Each cache has a floor: changes up to it may be missing, and a read from below it reports the loss. Memory is
 * bounded: the oldest changes are dropped and the floor rises. A slow reader loses changes; a writer never waits for a
 * reader. A subscription ends when no read renews it for one lease. Thread-safe.
 */
public final class ShardChanges {
    /** No subscriber. */
    public static final int NOT_REQUESTED = 0;
    /** Subscribers to the changes, none to old values. */
    public static final int REQUESTED = 1;

    public static final int REQUESTED_WITH_OLD_VALUE = 2;

    /** Lease of a subscription without a read: time to reconnect. */
    public static final long LEASE_NS = 60_000_000_000L;

    /** Caches with a subscription at once, at most. */
    static final int MAX_CACHES = 1_024;

    private static final int MAX_CHANGES = 4_096;
    private static final int SHARE_OF_HEAP = 32;
    private static final long LEAST_BYTES = 64 << 10;
    private static final long MOST_BYTES = 4 << 20;

    private static final class Interest {
        private boolean oldValues;
        private long floor;
        /** Renewed since the last {@link #endLapsed}. */
        private boolean renewed;

        private long untilNs;
    }

    /** A change and the cache it belongs to. */
    public record Kept(int cacheId, Change change) {
        long version() {
            return change.version();
        }
    }

    /**
     * A subscription to a cache.
     *
     * @param floor changes up to that version may be missing
     */
    public record OfCache(int cacheId, boolean oldValues, long floor) {}

    /**
     * A stream for the shard's next primary.
     *
     * @param changes the newest, in version order
     */
    public record Handed(List<OfCache> caches, List<Kept> changes) {}

    /** The result of one read. */
    public static final class Reading {
        private final List<Change> changes = new ArrayList<>();
        private long lostTo;
        private long to;

        /** In version order. */
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

    /** Pairs of a cache's id and its subscription kind, sorted by id; null without subscriptions. */
    private volatile int @Nullable [] requested;

    /** The highest version with a change. */
    private volatile long newest;

    // --- guarded by this ---
    private final Map<Integer, Interest> interests = new TreeMap<>();
    private @Nullable ChangeRing ring;

    /** @param shardCount of the store; all shards share the memory for changes */
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

    // --- writers ---

    /**
     * The kind of subscription to that cache. The caller asks after it has taken its version, and adds the change
     * before that version counts as finished. So every subscription made before the call gets the change.
     */
    public int requested(int cacheId) {
        final int[] now = requested;
        return now == null ? NOT_REQUESTED : find(now, cacheId);
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
        return NOT_REQUESTED;
    }

    /** Adds a committed change whose version does not count as finished yet. Allocates hardly anything. */
    public void add(int cacheId, Change change) {
        Chaos.point("stream.before-add");
        synchronized (this) {
            final ChangeRing kept = ring;
            if (kept == null || !interests.containsKey(cacheId)) {
                return;
            }
            kept.add(new Kept(cacheId, change), dropped -> raiseFloor(dropped.cacheId(), dropped.version()));
        }
        happened(change.version());
    }

    /** A change of that version is committed and could not be kept. */
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

    // --- readers ---

    /** Registers a watcher, which runs once for each change. The writing thread runs it; it must not block. */
    public void watch(Runnable watcher) {
        if (!watchers.contains(watcher)) {
            watchers.add(watcher);
        }
    }

    public void unwatch(Runnable watcher) {
        watchers.remove(watcher);
    }

    /** The highest version with a change, in any cache. */
    public long newest() {
        return newest;
    }

    /**
     * Subscribes to a cache's changes: keeps them from now on, for one lease.
     *
     * @param last supplies the shard's last version; NONE if its primary is not here any more
     * @return a version such that all changes with higher ones are kept, with old values if requested; {@link
     *     Version#NONE} if there are too many caches, or for want of a last version
     */
    public synchronized long request(int cacheId, boolean oldValues, LongSupplier last) {
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
            // Read after the subscription is published: a writer that takes a higher version sees it.
            interest.floor = last.getAsLong();
            if (interest.floor == Version.NONE) { // the shard has left: its next primary would take all for kept
                interests.remove(cacheId);
                publish();
            }
        } else if (oldValues && !interest.oldValues) {
            interest.oldValues = true;
            publish();
        }
        interest.renewed = true;
        return last.getAsLong();
    }

    private void publish() {
        if (interests.isEmpty()) {
            requested = null;
            ring = null;
            return;
        }
        final int[] pairs = new int[2 * interests.size()];
        int at = 0;
        for (Map.Entry<Integer, Interest> each : interests.entrySet()) {
            pairs[at++] = each.getKey();
            pairs[at++] = each.getValue().oldValues ? REQUESTED_WITH_OLD_VALUE : REQUESTED;
        }
        requested = pairs;
    }

    /**
     * The changes of a cache after a position, as far as they are finished.
     *
     * @param finished a version up to which all changes are added, computed before this call
     * @param maxBytes total of the changes, except that the first one always fits
     */
    public synchronized Reading read(int cacheId, long position, long finished, long maxBytes) {
        final Reading reading = new Reading();
        final Interest interest = interests.get(cacheId);
        final ChangeRing kept = ring;
        reading.to = position;
        if (interest == null || kept == null) {
            return reading; // lapsed: needs a new subscription, with another floor
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
     * Moves the kept changes to the stream of the shard's next epoch, of which this server is the primary again. This
     * one keeps nothing afterwards. No other thread adds or reads meanwhile.
     *
     * @param last the last version that this epoch assigned
     * @param finished a version up to which all changes are added; later ones may take effect yet, or not, and count as
     *     lost
     * @return null without subscriptions
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
                interest.renewed = true; // no read could renew it while service was suspended
                next.interests.put(cacheId, interest);
            });
            next.publish();
        }
        interests.clear();
        publish();
        return next;
    }

    /**
     * What the shard's next primary needs to go on with this stream; this one keeps nothing afterwards. This server is not
     * the primary any more, and all that it began is finished.
     *
     * @param mostBytes of the changes; of those that do not fit a reader learns that they are lost
     * @return null without subscriptions
     */
    public synchronized @Nullable Handed handOver(long mostBytes) {
        final ChangeRing kept = ring;
        if (kept == null) {
            return null;
        }
        final List<Kept> newestChanges =
                kept.newest(mostBytes, dropped -> raiseFloor(dropped.cacheId(), dropped.version()));
        final List<OfCache> caches = new ArrayList<>();
        interests.forEach((cacheId, each) -> caches.add(new OfCache(cacheId, each.oldValues, each.floor)));
        interests.clear();
        publish();
        return new Handed(caches, newestChanges);
    }

    /** Goes on with the stream of the former primary, instead of one that begins anew. Before the shard is served. */
    public synchronized void continueFrom(Handed handed) {
        final ChangeRing taken = new ChangeRing(maxChanges, maxBytes);
        ring = taken;
        for (OfCache each :
                handed.caches().subList(0, Math.min(MAX_CACHES, handed.caches().size()))) {
            final Interest interest = new Interest();
            interest.oldValues = each.oldValues();
            interest.floor = each.floor();
            interest.renewed = true; // no read could renew it meanwhile
            interests.put(each.cacheId(), interest);
        }
        for (Kept each : handed.changes()) {
            if (interests.containsKey(each.cacheId())) {
                taken.add(each, dropped -> raiseFloor(dropped.cacheId(), dropped.version()));
                newest = Math.max(newest, each.version());
            }
        }
        publish();
    }

    /** Ends subscriptions whose lease has lapsed. Called periodically by one thread, on that thread's clock. */
    public void endLapsed(long nowNs) {
        if (requested == null) {
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
