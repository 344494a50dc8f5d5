package org.rowankv.server.manager;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.rowankv.runtime.Clock;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerMessages;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.topology.Configuration;

/**
 * Passes the progress of copies on to the joining servers, and the completion of this server's own to the manager, by
 * messages that are repeated until they are answered. Called by agents; the agent of the messages delivers the answers.
 * Thread-safe.
 */
public final class CopyMessages implements CopyListener {
    private static final long REPEAT_NS = 50_000_000;
    private static final long ANSWERED = Long.MIN_VALUE;

    private record Said(int question, int shard, int epoch, int server) {}

    private final int serverId;
    private final Supplier<Configuration> committed;
    private final PeerMessages messages;
    private final CompletedCopies completions;
    private final Clock clock;
    /** When each was sent last, or that it was answered. */
    private final Map<Said, Long> sent = new ConcurrentHashMap<>();

    private long reportedNs;

    /** @param committed supplies the configuration in force */
    public CopyMessages(
            int serverId,
            Supplier<Configuration> committed,
            PeerMessages messages,
            CompletedCopies completions,
            Clock clock) {
        this.serverId = serverId;
        this.committed = committed;
        this.messages = messages;
        this.completions = completions;
        this.clock = clock;
        this.reportedNs = clock.nanoTime() - REPEAT_NS;
    }

    @Override
    public boolean announced(int shard, int epoch, int server, long bytes, BitSet destroyed) {
        return say(
                new Said(PeerRequestType.COPY_ANNOUNCED, shard, epoch, server),
                bytes,
                ByteBuffer.wrap(destroyed.toByteArray()));
    }

    @Override
    public boolean copied(int shard, int epoch, int server) {
        return say(new Said(PeerRequestType.COPIED, shard, epoch, server), 0, ByteBuffer.allocate(0));
    }

    private boolean say(Said said, long bytes, ByteBuffer payload) {
        final long nowNs = clock.nanoTime();
        final Long last = sent.get(said);
        if (last != null && last == ANSWERED) {
            sent.remove(said);
            return true;
        }
        if (last == null || nowNs - last >= REPEAT_NS) {
            sent.put(said, nowNs);
            messages.send(
                    said.server,
                    PeerMessageDescriptor.write(
                            said.question, false, said.shard, committed.get().term(), said.epoch, bytes, payload));
        }
        return false;
    }

    /** The number of such a message is the epoch. */
    void answered(int from, ByteBuffer message) {
        final Said said = new Said(
                PeerMessageDescriptor.question(message),
                PeerMessageDescriptor.shard(message),
                (int) PeerMessageDescriptor.number(message),
                from);
        sent.computeIfPresent(said, (key, last) -> ANSWERED);
    }

    @Override
    public boolean joined(int server, SortedMap<Integer, Integer> epochs) {
        final Configuration present = committed.get();
        if (epochs.keySet().stream().noneMatch(shard -> present.shard(shard).isJoining(server))) {
            return true;
        }
        final long nowNs = clock.nanoTime();
        if (nowNs - reportedNs < REPEAT_NS || !present.hasManager()) {
            return false;
        }
        reportedNs = nowNs;
        if (present.manager() == serverId) {
            completions.report(serverId, present.incarnations().get(serverId), epochs);
            return false;
        }
        final ByteBuffer payload =
                ByteBuffer.allocate(epochs.size() * 2 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        epochs.forEach((shard, epoch) -> payload.putInt(shard).putInt(epoch));
        messages.send(
                present.manager(),
                PeerMessageDescriptor.write(PeerRequestType.COMPLETED, false, 0, present.term(), 0, 0, payload.flip()));
        return false;
    }
}
