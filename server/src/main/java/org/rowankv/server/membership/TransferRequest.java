package org.rowankv.server.membership;

import org.rowankv.server.configstore.VersionedNode;
import org.rowankv.topology.Configuration;

/**
 * A node that asks the manager to make another server the primary of a shard. The manager removes it when that is so, or
 * refuses it.
 *
 * @param to number of the server
 * @param refusal why not; empty while it is not refused
 * @param version of the node
 */
public record TransferRequest(int shard, int to, String refusal, long version) {
    private static final String FIRST_LINE = "rowan-kv transfer";

    byte[] encode() {
        return TextRecord.begin(FIRST_LINE)
                .put("shard", shard)
                .put("to", to)
                .put("refusal", refusal)
                .encode();
    }

    static TransferRequest decode(String where, VersionedNode node) {
        final TextRecord lines = TextRecord.decode(where, FIRST_LINE, node.bytes());
        return new TransferRequest(
                (int) lines.number("shard", 0, Integer.MAX_VALUE),
                (int) lines.number("to", 0, Integer.MAX_VALUE),
                lines.text("refusal"),
                node.version());
    }

    public boolean isRefused() {
        return !refusal.isEmpty();
    }

    /** Whether that server is the primary. */
    public boolean isDoneIn(Configuration configuration) {
        return shard < configuration.shardCount() && configuration.shard(shard).primary() == to;
    }

    TransferRequest refused(String why) {
        return new TransferRequest(shard, to, why, version);
    }
}
