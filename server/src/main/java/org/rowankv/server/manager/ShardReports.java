package org.rowankv.server.manager;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerMessages;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * What servers report to the manager of some of their shards, in the epochs that these have, until it is stored. At every
 * server: it sends its own report, and keeps those of others in case it is the manager. Thread-safe.
 */
public final class ShardReports {
    private record Report(long incarnation, Map<Integer, Integer> epochs) {}

    private final int serverId;
    private final int type;
    private final PeerMessages messages;
    private final Runnable alarm;
    private final BiPredicate<ShardAssignment, Integer> applies;
    private final Map<Integer, Report> reports = new ConcurrentHashMap<>();

    /**
     * @param type of the message, which has no answer
     * @param alarm called when there is a report
     * @param applies whether a report of a server is still to be stored, by what is stored of the shard
     */
    public ShardReports(
            int serverId,
            int type,
            PeerMessages messages,
            Runnable alarm,
            BiPredicate<ShardAssignment, Integer> applies) {
        this.serverId = serverId;
        this.type = type;
        this.messages = messages;
        this.alarm = alarm;
        this.applies = applies;
    }

    /** Tells the manager of that configuration. To be repeated: the message may be lost, and the manager change. */
    public void tell(Configuration present, Map<Integer, Integer> epochs) {
        if (present.manager() == serverId) {
            report(serverId, present.incarnations().get(serverId), epochs);
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
        report(from, incarnation, epochs);
    }

    /** @param epochs by shard: in another epoch another primary may have sent what is missing there */
    void report(int server, long incarnation, Map<Integer, Integer> epochs) {
        reports.put(server, new Report(incarnation, Map.copyOf(epochs)));
        alarm.run();
    }

    /** Of those reports the shards to which they still apply in that configuration, by server. */
    Map<Integer, Set<Integer>> in(Configuration stored) {
        final Map<Integer, Set<Integer>> all = new TreeMap<>();
        reports.forEach((server, report) -> {
            final Set<Integer> shards = new TreeSet<>();
            report.epochs().forEach((shard, epoch) -> {
                if (stored.names(server, report.incarnation())
                        && shard >= 0
                        && shard < stored.shardCount()
                        && stored.shard(shard).epoch() == epoch
                        && applies.test(stored.shard(shard), server)) {
                    shards.add(shard);
                }
            });
            if (shards.isEmpty()) {
                reports.remove(server, report);
            } else {
                all.put(server, shards);
            }
        });
        return all;
    }
}
