package org.rowankv.server.inspect;

import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import org.rowankv.server.inspect.StoredEntry.Place;
import org.rowankv.server.log.CommitVector;
import org.rowankv.server.log.EntryType;

/**
 * The state that the entries of one area produce, in whatever order they are read: the newest version of a key counts,
 * and a clear ends what is older. For one thread: first all entries, then the queries.
 */
final class AreaReplay {
    record ObjectKey(int cacheId, ByteBuffer key) {
        static ObjectKey of(StoredEntry entry) {
            return new ObjectKey(entry.cacheId(), ByteBuffer.wrap(entry.key()));
        }
    }

    /** The compared state of an object: the same on every replica. */
    record ObjectState(long version, long objectVersion, int valueCrc, long expiryMs) {}

    /** The newest entry of a key. */
    private record Newest(boolean isObject, int shard, boolean expires, ObjectState state, List<Place> places) {
        static Newest of(StoredEntry entry) {
            return new Newest(
                    EntryType.holdsObject(entry.type()),
                    entry.shard(),
                    entry.expires(),
                    new ObjectState(entry.version(), entry.objectVersion(), entry.valueCrc(), entry.expiryMs()),
                    entry.places());
        }
    }

    private record CacheShard(int cacheId, int shard) {}

    static final Comparator<ObjectKey> ORDER =
            Comparator.comparingInt(ObjectKey::cacheId).thenComparing(ObjectKey::key);

    /** Receives each present object. */
    @FunctionalInterface
    interface ObjectVisitor {
        void onObject(ObjectKey key, int shard, boolean expires, ObjectState state, List<Place> places);
    }

    private final IntPredicate selected;
    private final Map<ObjectKey, Newest> newest = new HashMap<>();
    private final Map<CacheShard, Long> cleared = new HashMap<>();
    private final long[] commitVersions;

    /** @param selected the shards whose objects are queried */
    AreaReplay(int shards, IntPredicate selected) {
        this.selected = selected;
        this.commitVersions = new long[shards];
    }

    int shardCount() {
        return commitVersions.length;
    }

    /** @param buffer holds the entry at {@code at} */
    void apply(StoredEntry entry, ByteBuffer buffer, int at) {
        if (entry.type() == EntryType.COMMIT_VECTOR) {
            for (int i = 0; i < CommitVector.count(buffer, at); i++) {
                final int shard = CommitVector.shard(buffer, at, i);
                if (shard >= 0 && shard < commitVersions.length) {
                    commitVersions[shard] = Math.max(commitVersions[shard], CommitVector.version(buffer, at, i));
                }
            }
        } else if (!entry.isVoid() && selected.test(entry.shard())) {
            if (entry.type() == EntryType.CLEAR) {
                cleared.merge(new CacheShard(entry.cacheId(), entry.shard()), entry.version(), Math::max);
            } else if (EntryType.isKeyed(entry.type())) {
                final ObjectKey key = ObjectKey.of(entry);
                final Newest known = newest.get(key);
                if (known == null || entry.version() > known.state().version()) {
                    newest.put(key, Newest.of(entry));
                }
            }
        }
    }

    /** Visits every object that is neither removed nor cleared. */
    void forEachObject(ObjectVisitor visitor) {
        newest.forEach((key, entry) -> {
            final long end = cleared.getOrDefault(new CacheShard(key.cacheId(), entry.shard()), 0L);
            if (entry.isObject() && entry.state().version() > end) {
                visitor.onObject(key, entry.shard(), entry.expires(), entry.state(), entry.places());
            }
        });
    }

    /** The version of the last known event of a key: stored, removed or cleared. */
    long lastVersion(ObjectKey key, int shard) {
        final Newest entry = newest.get(key);
        return Math.max(
                entry == null ? 0 : entry.state().version(),
                cleared.getOrDefault(new CacheShard(key.cacheId(), shard), 0L));
    }

    /** The largest CommitVer of a shard that is recorded in the area; 0 if none is. */
    long commitVersion(int shard) {
        return commitVersions[shard];
    }
}
