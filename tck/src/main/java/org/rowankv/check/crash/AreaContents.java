package org.rowankv.check.crash;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.protocol.Version;

/**
 * What one server's area alone says of every key: its entries, read without the index and in whatever order they lie,
 * replayed by version. Used by one thread.
 */
public final class AreaContents {
    private record Place(int cacheId, int shard) {}

    private record Newest(int shard, long entryVersion, Stored stored) {}

    private final Map<Integer, Map<Integer, Newest>> byCache = new HashMap<>();
    private final Map<Place, Long> cleared = new HashMap<>();
    private long entries;

    /** An entry that sets a key's state. */
    void onKeyed(int cacheId, int shard, int key, long entryVersion, Stored stored) {
        entries++;
        byCache.computeIfAbsent(cacheId, unused -> new HashMap<>())
                .merge(
                        key,
                        new Newest(shard, entryVersion, stored),
                        (known, other) -> other.entryVersion() > known.entryVersion() ? other : known);
    }

    /** An entry that ends all objects of a cache in a shard with smaller versions. */
    void onClear(int cacheId, int shard, long version) {
        entries++;
        cleared.merge(new Place(cacheId, shard), version, Math::max);
    }

    /** What several areas say together. */
    static AreaContents together(List<AreaContents> areas) {
        final AreaContents all = new AreaContents();
        for (AreaContents area : areas) {
            area.byCache.forEach((cacheId, keys) -> keys.forEach((key, newest) ->
                    all.onKeyed(cacheId, newest.shard(), key, newest.entryVersion(), newest.stored())));
            area.cleared.forEach((place, version) -> all.onClear(place.cacheId(), place.shard(), version));
        }
        return all;
    }

    long entries() {
        return entries;
    }

    /** The live objects of a cache. */
    Map<Integer, Stored> objects(int cacheId) {
        final Map<Integer, Stored> objects = new HashMap<>();
        byCache.getOrDefault(cacheId, Map.of()).forEach((key, newest) -> {
            final long end = cleared.getOrDefault(new Place(cacheId, newest.shard()), Version.NONE);
            if (!newest.stored().isAbsent() && newest.entryVersion() > end) {
                objects.put(key, newest.stored());
            }
        });
        return objects;
    }
}
