package org.rowankv.server.membership;

import java.util.ArrayList;
import java.util.List;

/**
 * The servers of a cluster, by number: stored at its creation. Only data directories that were lost are replaced.
 *
 * @param clusterId random, never 0
 * @param hashSeed of the key hash, random
 * @param names by server number
 * @param identities of the data directories, by server number
 * @param zones by server number; empty where none was given
 */
public record Members(
        long clusterId,
        long hashSeed,
        ClusterShape shape,
        List<String> names,
        List<Long> identities,
        List<String> zones) {
    private static final String FIRST_LINE = "rowan-kv cluster";

    public Members {
        names = List.copyOf(names);
        identities = List.copyOf(identities);
        zones = List.copyOf(zones);
    }

    /** The number of a server, or −1. */
    public int numberOf(String name) {
        return names.indexOf(name);
    }

    /** With another data directory of that server. */
    public Members replacing(int server, long identity) {
        final List<Long> replaced = new ArrayList<>(identities);
        replaced.set(server, identity);
        return new Members(clusterId, hashSeed, shape, names, replaced, zones);
    }

    byte[] encode() {
        final TextRecord lines =
                TextRecord.begin(FIRST_LINE).putHex("cluster", clusterId).putHex("hash-seed", hashSeed);
        shape.write(lines);
        for (int server = 0; server < names.size(); server++) {
            lines.put("server." + server, names.get(server))
                    .putHex("identity." + server, identities.get(server))
                    .put("zone." + server, zones.get(server));
        }
        return lines.encode();
    }

    static Members decode(String where, byte[] bytes) {
        final TextRecord lines = TextRecord.decode(where, FIRST_LINE, bytes);
        final ClusterShape shape = ClusterShape.read(lines);
        final List<String> names = new ArrayList<>();
        final List<Long> identities = new ArrayList<>();
        final List<String> zones = new ArrayList<>();
        for (int server = 0; server < shape.servers(); server++) {
            names.add(lines.text("server." + server));
            identities.add(lines.hex("identity." + server));
            zones.add(lines.text("zone." + server));
        }
        return new Members(lines.hex("cluster"), lines.hex("hash-seed"), shape, names, identities, zones);
    }
}
