package org.rowankv.samples;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.rowankv.server.log.AreaReader;
import org.rowankv.server.log.EntryType;

/**
 * The areas of a closed store, read without any index: for each shard the set of (key, version, CRC) of its live objects.
 * With as many replicas as servers all areas must hold the same sets.
 */
final class ReplicaAreas {
    private record Newest(long entryVersion, String object) {}

    private record Place(int shard, int cacheId) {}

    private ReplicaAreas() {}

    /** Compares every server's area with the first one's; prints where they differ. */
    static boolean agree(Path directory, int servers, PrintStream out) {
        final List<Map<Integer, Map<String, String>>> areas = new ArrayList<>();
        for (int server = 0; server < servers; server++) {
            areas.add(objectsByShard(directory, server));
        }
        boolean agree = true;
        for (int server = 1; server < servers; server++) {
            for (Integer shard : union(areas.get(0), areas.get(server))) {
                final Map<String, String> expected = areas.get(0).getOrDefault(shard, Map.of());
                final Map<String, String> actual = areas.get(server).getOrDefault(shard, Map.of());
                if (!expected.equals(actual)) {
                    agree = false;
                    out.println("  shard " + shard + ": server 0 holds " + expected.size() + " objects, server "
                            + server + " holds " + actual.size() + ", and they are not the same");
                }
            }
        }
        return agree;
    }

    private static Iterable<Integer> union(Map<Integer, ?> one, Map<Integer, ?> other) {
        final var all = new java.util.TreeSet<>(one.keySet());
        all.addAll(other.keySet());
        return all;
    }

    private static Map<Integer, Map<String, String>> objectsByShard(Path directory, int server) {
        final Map<Place, Map<String, Newest>> newest = new HashMap<>();
        final Map<Place, Long> cleared = new HashMap<>();
        AreaReader.open(directory, server)
                .forEachEntry((type, shard, version, objectVersion, cacheId, key, value, bodyCrc) -> {
                    final Place place = new Place(shard, cacheId);
                    if (type == EntryType.CLEAR) {
                        cleared.merge(place, version, Math::max);
                    } else if (EntryType.isKeyed(type)) {
                        final String object =
                                EntryType.holdsObject(type) ? objectVersion + " " + Integer.toHexString(bodyCrc) : "";
                        newest.computeIfAbsent(place, unused -> new HashMap<>())
                                .merge(
                                        cacheId + ":" + new String(key, StandardCharsets.ISO_8859_1),
                                        new Newest(version, object),
                                        (known, other) -> other.entryVersion() > known.entryVersion() ? other : known);
                    }
                });
        final Map<Integer, Map<String, String>> result = new TreeMap<>();
        newest.forEach((place, keys) -> keys.forEach((key, entry) -> {
            if (!entry.object().isEmpty() && entry.entryVersion() > cleared.getOrDefault(place, 0L)) {
                result.computeIfAbsent(place.shard(), unused -> new HashMap<>()).put(key, entry.object());
            }
        }));
        return result;
    }
}
