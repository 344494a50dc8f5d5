package org.rowankv.server.manager;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerMessages;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.server.peer.StaleTermException;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.topology.Configuration;

/**
 * Passes the progress of copies on to the joining servers, and the completion of this server's own to the manager.
 * Called by agents; another thread waits for the answers.
 */
public final class CopyMessages implements CopyListener {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final int serverId;
    private final Supplier<Configuration> committed;
    private final PeerMessages messages;
    private final PeerCalls calls;
    private final PeerCalls.Patience patience;
    private final Executor deferred;
    private final Completions completions;

    /** @param committed supplies the configuration in force */
    public CopyMessages(
            int serverId,
            Supplier<Configuration> committed,
            PeerMessages messages,
            PeerCalls calls,
            PeerCalls.Patience patience,
            Executor deferred,
            Completions completions) {
        this.serverId = serverId;
        this.committed = committed;
        this.messages = messages;
        this.calls = calls;
        this.patience = patience;
        this.deferred = deferred;
        this.completions = completions;
    }

    @Override
    public void announced(int shard, int server, long bytes) {
        send(server, PeerRequestType.COPY_ANNOUNCED, shard, bytes);
    }

    @Override
    public void copied(int shard, int server, long unused) {
        send(server, PeerRequestType.COPIED, shard, unused);
    }

    private void send(int server, int question, int shard, long bytes) {
        final long incarnation = committed.get().incarnations().get(server);
        deferred.execute(() -> {
            final PeerCalls.Call call = calls.begin(server, question, shard, bytes, NOTHING);
            try {
                final ByteBuffer unused = call.awaitWhile(
                        () -> committed.get().names(server, incarnation)
                                && committed.get().shard(shard).isJoining(server),
                        patience);
            } catch (StaleTermException e) {
                call.abandon(); // the copy ends with this server's roles
            }
        });
    }

    /** Repeated by the caller until the manager has stored it. */
    @Override
    public boolean joined(int server) {
        final Configuration present = committed.get();
        if (!present.isJoining(server)) {
            return true;
        }
        final Set<Integer> shards = new TreeSet<>();
        for (int shard = 0; shard < present.shardCount(); shard++) {
            if (present.shard(shard).isJoining(server)) {
                shards.add(shard);
            }
        }
        if (present.manager() == serverId) {
            completions.report(serverId, present.incarnations().get(serverId), shards);
            return false;
        }
        final ByteBuffer payload =
                ByteBuffer.allocate(shards.size() * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        shards.forEach(payload::putInt);
        messages.send(
                present.manager(),
                PeerMessageDescriptor.write(PeerRequestType.COMPLETED, false, 0, present.term(), 0, 0, payload.flip()));
        return false;
    }
}
