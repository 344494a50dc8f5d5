package org.rowankv.server.inspect;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Parts;
import org.rowankv.server.inspect.StoredEntry.Place;
import org.rowankv.server.log.CommitVector;
import org.rowankv.server.log.EntryDescriptor;
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
    private record Newest(
            boolean isObject,
            int shard,
            boolean expires,
            ObjectState state,
            List<Place> places,
            @Nullable PartList list) {
        static Newest of(StoredEntry entry, @Nullable PartList list) {
            return new Newest(
                    EntryType.holdsObject(entry.type()),
                    entry.shard(),
                    entry.expires(),
                    new ObjectState(entry.version(), entry.objectVersion(), entry.valueCrc(), entry.expiryMs()),
                    entry.places(),
                    list);
        }
    }

    /** A cache in a shard; parts end with their cache. */
    private record CacheShard(int cacheId, int shard) {
        static CacheShard of(int cacheId, int shard) {
            return new CacheShard(Parts.cacheOf(cacheId), shard);
        }
    }

    /**
     * The parts of values in an area.
     *
     * @param parts that are present
     * @param values whose lists are present
     * @param orphans values whose list is not: their parts are being removed, or were left by a client that ended
     */
    record PartsCount(long parts, long values, long orphans) {}

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
                cleared.merge(CacheShard.of(entry.cacheId(), entry.shard()), entry.version(), Math::max);
            } else if (EntryType.isKeyed(entry.type())) {
                final ObjectKey key = ObjectKey.of(entry);
                final Newest known = newest.get(key);
                if (known == null || entry.version() > known.state().version()) {
                    newest.put(key, Newest.of(entry, listOf(entry, buffer, at)));
                }
            }
        }
    }

    /** Visits every object that is neither removed nor cleared. */
    void forEachObject(ObjectVisitor visitor) {
        newest.forEach((key, entry) -> {
            final long end = cleared.getOrDefault(CacheShard.of(key.cacheId(), entry.shard()), 0L);
            if (entry.isObject() && entry.state().version() > end) {
                visitor.onObject(key, entry.shard(), entry.expires(), entry.state(), entry.places());
            }
        });
    }

    private static @Nullable PartList listOf(StoredEntry entry, ByteBuffer buffer, int at) {
        return EntryType.holdsObject(entry.type()) && (entry.flags() & EntryDescriptor.IN_PARTS) != 0
                ? PartList.read(
                        buffer,
                        at + EntryDescriptor.headerLength(entry.flags()) + entry.key().length,
                        entry.valueLength())
                : null;
    }

    PartsCount parts() {
        final Set<Long> listed = new HashSet<>();
        final Set<Long> stored = new HashSet<>();
        final long[] parts = new long[1];
        forEachObject((key, shard, expires, state, places) -> {
            final Newest entry = newest.get(key);
            final PartList list = entry == null ? null : entry.list();
            if (list != null) {
                listed.add(list.id());
            } else if (Parts.isParts(key.cacheId()) && key.key().capacity() == Parts.KEY_LENGTH) {
                stored.add(Parts.id(key.key().duplicate().order(ByteOrder.LITTLE_ENDIAN), 0));
                parts[0]++;
            }
        });
        stored.removeAll(listed);
        return new PartsCount(parts[0], listed.size(), stored.size());
    }

    /** The version of the last known event of a key: stored, removed or cleared. */
    long lastVersion(ObjectKey key, int shard) {
        final Newest entry = newest.get(key);
        return Math.max(
                entry == null ? 0 : entry.state().version(),
                cleared.getOrDefault(CacheShard.of(key.cacheId(), shard), 0L));
    }

    /** The largest CommitVer of a shard that is recorded in the area; 0 if none is. */
    long commitVersion(int shard) {
        return commitVersions[shard];
    }
}
