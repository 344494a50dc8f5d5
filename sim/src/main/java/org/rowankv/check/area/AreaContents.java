package org.rowankv.check.area;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.protocol.Version;
import org.rowankv.server.log.EntryType;

/**
 * The state of every key according to one server's area alone: its entries, read without the index and in physical
 * order, replayed by version. Confined to one thread.
 */
public final class AreaContents {
    /** The objects of one cache in one shard; a CLEAR removes them together. */
    private record Place(int cacheId, int shard) {}

    private record Newest(long entryVersion, Stored stored) {}

    private final Map<Place, Map<String, Newest>> places = new HashMap<>();
    private final Map<Place, Long> cleared = new HashMap<>();

    /** Replays one server's area of a closed store. */
    public static AreaContents read(Path store, int server) {
        final AreaContents contents = new AreaContents();
        AreaReader.open(store, server).forEachEntry((type, shard, version, objectVersion, cacheId, key, value) -> {
            if (type == EntryType.CLEAR) {
                contents.onClear(cacheId, shard, version);
            } else if (type == EntryType.DELETE) {
                contents.onKeyed(cacheId, shard, text(key), version, Stored.absent(version));
            } else if (EntryType.holdsObject(type)) {
                final Stored stored = Stored.of(value, value.length, objectVersion);
                contents.onKeyed(cacheId, shard, text(key), version, stored);
            }
        });
        return contents;
    }

    public static AreaContents together(List<AreaContents> areas) {
        final AreaContents all = new AreaContents();
        for (AreaContents area : areas) {
            area.places.forEach((place, keys) -> keys.forEach((key, newest) ->
                    all.onKeyed(place.cacheId(), place.shard(), key, newest.entryVersion(), newest.stored())));
            area.cleared.forEach((place, version) -> all.onClear(place.cacheId(), place.shard(), version));
        }
        return all;
    }

    /** A key's bytes as text, one character per byte. */
    private static String text(byte[] key) {
        return new String(key, StandardCharsets.ISO_8859_1);
    }

    /** Applies an entry that sets a key's state. */
    void onKeyed(int cacheId, int shard, String key, long entryVersion, Stored stored) {
        places.computeIfAbsent(new Place(cacheId, shard), unused -> new HashMap<>())
                .merge(
                        key,
                        new Newest(entryVersion, stored),
                        (known, other) -> other.entryVersion() > known.entryVersion() ? other : known);
    }

    /** Applies an entry that removes all objects of a cache in a shard with smaller versions. */
    void onClear(int cacheId, int shard, long version) {
        cleared.merge(new Place(cacheId, shard), version, Math::max);
    }

    /** The live objects of a cache; keys with one character per byte. */
    public Map<String, Stored> objects(int cacheId) {
        final Map<String, Stored> objects = new HashMap<>();
        for (Place place : places.keySet()) {
            if (place.cacheId() == cacheId) {
                objects.putAll(objects(place));
            }
        }
        return objects;
    }

    /** The live objects of a shard, of all caches; keys begin with the cache's id. */
    public Map<String, Stored> objectsOfShard(int shard) {
        final Map<String, Stored> objects = new HashMap<>();
        for (Place place : places.keySet()) {
            if (place.shard() == shard) {
                objects(place).forEach((key, stored) -> objects.put(place.cacheId() + ":" + key, stored));
            }
        }
        return objects;
    }

    private Map<String, Stored> objects(Place place) {
        final long end = cleared.getOrDefault(place, Version.NONE);
        final Map<String, Stored> objects = new HashMap<>();
        places.getOrDefault(place, Map.of()).forEach((key, newest) -> {
            if (!newest.stored().isAbsent() && newest.entryVersion() > end) {
                objects.put(key, newest.stored());
            }
        });
        return objects;
    }
}
