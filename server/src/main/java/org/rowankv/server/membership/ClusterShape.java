package org.rowankv.server.membership;

import java.util.Locale;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.topology.ShardMap;

/**
 * Parameters on which all servers of a cluster must agree, from its creation on.
 *
 * @param servers of the cluster
 * @param replicas of each shard
 * @param shards into which the keys are divided
 * @param segmentBytes of one segment
 * @param maxMessage longest message of the fabric
 * @param durability what an acknowledged write survives
 * @param fabric that carries entries between them
 */
public record ClusterShape(
        int servers,
        int replicas,
        int shards,
        int segmentBytes,
        int maxMessage,
        Durability durability,
        FabricKind fabric) {
    /** Of a cluster, or of a store inside one JVM. */
    public static final int MAX_SERVERS = 64;

    private static final int MAX_MESSAGE = 128 << 10;

    /** Of a cluster over TCP, or of a store inside one JVM. */
    public ClusterShape(
            int servers, int replicas, int shards, int segmentBytes, int maxMessage, Durability durability) {
        this(servers, replicas, shards, segmentBytes, maxMessage, durability, FabricKind.TCP);
    }

    /**
     * Returns this.
     *
     * @throws IllegalArgumentException if the shape is invalid; the message states the limit
     */
    public ClusterShape requireUsable() {
        require(servers >= 1 && servers <= MAX_SERVERS, "servers must be 1.." + MAX_SERVERS + ", not " + servers);
        require(
                replicas >= 1 && replicas <= servers,
                "replicas must be 1.." + servers + " (the number of servers), not " + replicas);
        require(
                shards >= servers && shards <= ShardMap.MAX_SHARDS,
                "shards must be " + servers + " (one per server).." + ShardMap.MAX_SHARDS + ", not " + shards);
        require(
                Integer.bitCount(segmentBytes) == 1
                        && segmentBytes >= AreaSettings.MIN_SEGMENT_LENGTH
                        && segmentBytes <= AreaSettings.MAX_SEGMENT_LENGTH,
                "segment must be a power of two from " + AreaSettings.MIN_SEGMENT_LENGTH + " to "
                        + AreaSettings.MAX_SEGMENT_LENGTH + " bytes, not " + segmentBytes);
        final int longest = Math.min(MAX_MESSAGE, segmentBytes);
        require(
                maxMessage >= 256 && maxMessage <= longest && maxMessage % 64 == 0,
                "max-message must be a multiple of 64 from 256 to " + longest + ", not " + maxMessage);
        require(
                fabric.leases() == 0 || durability != Durability.POWER,
                "durability power needs --rdma-mode landed or --fabric tcp: with leased segments, an acknowledged entry is in"
                        + " the receiver's memory, and no thread there forces it to the device");
        return this;
    }

    /** Segments of each server that the others have leased, at most. */
    public int leasedSegments() {
        return replicas > 1 ? fabric.leases() * (servers - 1) : 0;
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }

    void write(TextRecord lines) {
        lines.put("servers", servers)
                .put("replicas", replicas)
                .put("shards", shards)
                .put("segment", segmentBytes)
                .put("max-message", maxMessage)
                .put("durability", durability.parameter())
                .put("fabric", fabric.parameter());
    }

    static ClusterShape read(TextRecord lines) {
        return new ClusterShape(
                (int) lines.number("servers", 1, 1 << 16),
                (int) lines.number("replicas", 1, 1 << 16),
                (int) lines.number("shards", 1, 1 << 16),
                (int) lines.number("segment", 1, Integer.MAX_VALUE),
                (int) lines.number("max-message", 1, Integer.MAX_VALUE),
                Durability.valueOf(lines.text("durability").toUpperCase(Locale.ROOT)),
                // Records of clusters made when there was no other have no such line.
                FabricKind.of(lines.text("fabric", FabricKind.TCP.parameter())));
    }

    /**
     * @param whose for the message
     * @throws ClusterException if the shapes differ; the message names the difference
     */
    public void requireSame(ClusterShape own, String whose) {
        require("servers (expect)", servers, own.servers, whose);
        require("replicas", replicas, own.replicas, whose);
        require("shards", shards, own.shards, whose);
        require("segment", segmentBytes, own.segmentBytes, whose);
        require("max-message", maxMessage, own.maxMessage, whose);
        require("durability", durability.parameter(), own.durability.parameter(), whose);
        if (fabric != own.fabric) {
            throw new ClusterException("this server has the fabric " + own.fabric.text() + ", but " + whose + " has "
                    + fabric.text() + ": all servers of a cluster have the same, and a cluster keeps the one it was"
                    + " created with. Start this server with " + fabric.options());
        }
    }

    private static void require(String what, Object theirs, Object own, String whose) {
        if (!theirs.equals(own)) {
            throw new ClusterException("this server has " + what + " " + own + ", but " + whose + " has " + theirs
                    + ": all servers of a cluster have the same");
        }
    }
}
