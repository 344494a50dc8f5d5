package org.rowankv.check.area;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.rowankv.topology.Configuration;

/** Comparison of replicas by their areas alone: objects, versions and bytes of each shard must be equal. */
public final class AreaComparison {
    private AreaComparison() {}

    /**
     * Returns the differences, one line per shard and pair of servers; empty when all agree. The store must be closed.
     */
    public static List<String> differences(Path store, Configuration configuration) {
        final List<AreaContents> areas = new ArrayList<>();
        for (int server = 0; server < configuration.serverCount(); server++) {
            areas.add(AreaContents.read(store, server));
        }
        return differences(areas, configuration);
    }

    /** As above, for areas that were read already. */
    public static List<String> differences(List<AreaContents> areas, Configuration configuration) {
        final List<String> differences = new ArrayList<>();
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final int primary = configuration.shard(shard).primary();
            final Map<String, Stored> expected = areas.get(primary).objectsOfShard(shard);
            for (int backup : configuration.shard(shard).backups()) {
                if (configuration.shard(shard).isJoining(backup)) {
                    continue;
                }
                final Map<String, Stored> actual = areas.get(backup).objectsOfShard(shard);
                if (!actual.equals(expected)) {
                    differences.add("shard " + shard + ": server " + primary + " holds " + expected.size()
                            + " objects, server " + backup + " holds " + actual.size() + firstOf(expected, actual));
                }
            }
        }
        return differences;
    }

    private static String firstOf(Map<String, Stored> expected, Map<String, Stored> actual) {
        final TreeSet<String> keys = new TreeSet<>(expected.keySet());
        keys.addAll(actual.keySet());
        for (String key : keys) {
            final Stored one = expected.get(key);
            final Stored other = actual.get(key);
            if (one == null ? other != null : !one.equals(other)) {
                return "; first difference: key " + key + ", " + (one == null ? "nothing" : one) + " and "
                        + (other == null ? "nothing" : other);
            }
        }
        return "";
    }
}
