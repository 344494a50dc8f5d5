package org.rowankv.server.membership;

import java.util.Locale;
import org.rowankv.server.durability.Durability;

/**
 * What all servers of a cluster must agree on, from the day it is made.
 *
 * @param servers that it has
 * @param replicas of each shard
 * @param shards into which the keys are divided
 * @param segmentBytes of one segment
 * @param maxMessage longest message of the fabric
 * @param durability what an acknowledged write survives
 */
public record ClusterShape(
        int servers, int replicas, int shards, int segmentBytes, int maxMessage, Durability durability) {
    void write(Lines lines) {
        lines.put("servers", servers)
                .put("replicas", replicas)
                .put("shards", shards)
                .put("segment", segmentBytes)
                .put("max-message", maxMessage)
                .put("durability", durability.parameter());
    }

    static ClusterShape read(Lines lines) {
        return new ClusterShape(
                (int) lines.number("servers", 1, 1 << 16),
                (int) lines.number("replicas", 1, 1 << 16),
                (int) lines.number("shards", 1, 1 << 16),
                (int) lines.number("segment", 1, Integer.MAX_VALUE),
                (int) lines.number("max-message", 1, Integer.MAX_VALUE),
                Durability.valueOf(lines.text("durability").toUpperCase(Locale.ROOT)));
    }

    /**
     * @param whose for people
     * @throws ClusterException if they differ; names in what
     */
    public void requireSame(ClusterShape own, String whose) {
        require("servers (expect)", servers, own.servers, whose);
        require("replicas", replicas, own.replicas, whose);
        require("shards", shards, own.shards, whose);
        require("segment", segmentBytes, own.segmentBytes, whose);
        require("max-message", maxMessage, own.maxMessage, whose);
        require("durability", durability.parameter(), own.durability.parameter(), whose);
    }

    private static void require(String what, Object theirs, Object own, String whose) {
        if (!theirs.equals(own)) {
            throw new ClusterException("this server has " + what + " " + own + ", but " + whose + " has " + theirs
                    + ": all servers of a cluster have the same");
        }
    }
}
