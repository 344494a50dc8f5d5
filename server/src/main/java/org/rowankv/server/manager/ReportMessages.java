package org.rowankv.server.manager;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.TreeMap;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerMessages;
import org.rowankv.topology.Configuration;

/**
 * Reports of one kind between the servers of a cluster: a server sends its own, and keeps those of others in case it is
 * the manager. Thread-safe.
 */
public final class ReportMessages {
    private final int serverId;
    private final int type;
    private final PeerMessages messages;
    private final ShardReports reports;

    /**
     * @param type of the message, which has no answer
     * @param reports receives them
     */
    public ReportMessages(int serverId, int type, PeerMessages messages, ShardReports reports) {
        this.serverId = serverId;
        this.type = type;
        this.messages = messages;
        this.reports = reports;
    }

    /** Tells the manager of that configuration. To be repeated: the message may be lost, and the manager change. */
    public void tell(Configuration present, Map<Integer, Integer> epochs) {
        if (present.manager() == serverId) {
            reports.report(serverId, present.incarnations().get(serverId), epochs);
        } else if (present.hasManager()) {
            final ByteBuffer payload =
                    ByteBuffer.allocate(epochs.size() * 2 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            epochs.forEach((shard, epoch) -> payload.putInt(shard).putInt(epoch));
            messages.send(
                    present.manager(),
                    PeerMessageDescriptor.write(type, false, 0, present.term(), 0, 0, payload.flip()));
        }
    }

    /** Another server's message has arrived. */
    void received(int from, long incarnation, ByteBuffer message) {
        final ByteBuffer payload = PeerMessageDescriptor.payload(message);
        final Map<Integer, Integer> epochs = new TreeMap<>();
        while (payload.remaining() >= 2 * Integer.BYTES) {
            epochs.put(payload.getInt(), payload.getInt());
        }
        reports.report(from, incarnation, epochs);
    }
}
