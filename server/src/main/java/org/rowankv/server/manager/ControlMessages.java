package org.rowankv.server.manager;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.configstore.ConfigurationCodec;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.engine.Server;
import org.rowankv.server.opening.OpeningMessage;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerMessages;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.server.peer.RemoteReplicas;
import org.rowankv.server.resync.PresentEntries;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * Messages among the servers of a cluster about leases, configurations and copies: passes each to what handles it.
 * Delivered by the messages' agent, which it never keeps waiting.
 */
public final class ControlMessages implements PeerMessages.ControlHandler {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    /** A bit for each id of a cache. */
    private static final int MAX_IDS_LENGTH = CatalogueStore.MAX_ID / Byte.SIZE + 1;

    private final PeerMessages messages;
    private final LeaseAgent leases;
    private final ReportMessages completions;
    private final ReportMessages renewals;
    private final CopyMessages copies;
    private final Departures departures;
    /** Null until this server serves. */
    private volatile @Nullable Adoption adoption;

    private volatile @Nullable Server server;
    /** Runs what waits for the device. */
    private final Executor adopting;

    /** Wakes the thread that changes configurations. */
    private final Runnable alarm;

    private final ErrorLog errors;

    public ControlMessages(
            PeerMessages messages,
            LeaseAgent leases,
            ReportMessages completions,
            ReportMessages renewals,
            CopyMessages copies,
            Departures departures,
            Executor adopting,
            Runnable alarm,
            ErrorLog errors) {
        this.messages = messages;
        this.leases = leases;
        this.completions = completions;
        this.renewals = renewals;
        this.copies = copies;
        this.departures = departures;
        this.adopting = adopting;
        this.alarm = alarm;
        this.errors = errors;
    }

    /** Begins to follow the manager. */
    public void use(Adoption following, Server serving) {
        server = serving;
        adoption = following;
    }

    @Override
    public void onMessage(int from, long incarnation, ByteBuffer message) {
        final Adoption following = adoption;
        final Server serving = server;
        final int question = PeerMessageDescriptor.question(message);
        if (question == PeerRequestType.LEASE || question == PeerRequestType.CONFIRM) {
            leases.onMessage(from, incarnation, message);
        } else if (following != null && serving != null) {
            onMessage(following, serving, from, incarnation, message);
        }
    }

    private void onMessage(Adoption following, Server serving, int from, long incarnation, ByteBuffer message) {
        switch (PeerMessageDescriptor.question(message)) {
            case PeerRequestType.HEARS_MANAGER ->
                messages.answer(from, message, leases.missesManager() ? 0 : 1, NOTHING);
            case PeerRequestType.PREPARE -> prepare(following, from, incarnation, message);
            case PeerRequestType.COMMIT ->
                adopting.execute(() -> {
                    if (following.prepared().manager() == from
                            && following.commit(PeerMessageDescriptor.argument(message))) {
                        messages.answer(from, message, 0, NOTHING);
                    }
                });
            case PeerRequestType.COMPLETED -> completions.received(from, incarnation, message);
            case PeerRequestType.RENEW -> renewals.received(from, incarnation, message);
            case PeerRequestType.LEAVE -> leave(from, incarnation, message);
            case PeerRequestType.COPY_ANNOUNCED, PeerRequestType.COPIED -> copy(following, serving, from, message);
            case PeerRequestType.PRESENT -> present(following, serving, from, message);
            case PeerRequestType.FIND -> find(serving, from, message);
            case PeerRequestType.OPENING -> opening(serving, from, message);
            default -> throw new AssertionError("question " + PeerMessageDescriptor.question(message));
        }
    }

    private void find(Server serving, int from, ByteBuffer message) {
        final long cycles = serving.digestCycles(); // before the index is read
        final ByteBuffer entries = RemoteReplicas.answer(
                serving, PeerMessageDescriptor.shard(message), PeerMessageDescriptor.argument(message));
        if (entries != null) {
            messages.answer(from, message, cycles, entries);
        }
    }

    private void prepare(Adoption following, int from, long incarnation, ByteBuffer message) {
        final ByteBuffer payload = PeerMessageDescriptor.payload(message);
        final byte[] bytes = new byte[payload.remaining()];
        payload.get(bytes);
        final Configuration next;
        try {
            next = ConfigurationCodec.decode(bytes);
        } catch (ConfigurationStoreException e) {
            errors.reportExpected("a configuration of server " + from, e);
            return;
        }
        final Configuration present = following.prepared();
        if (next.manager() != from
                || !next.names(from, incarnation)
                || next.clusterId() != present.clusterId()
                || next.serverCount() != present.serverCount()
                || next.shardCount() != present.shardCount()) {
            errors.reportExpected(
                    "a configuration of server " + from,
                    new IllegalArgumentException("it is of another cluster or manager, term " + next.term()));
            return;
        }
        adopting.execute(() -> {
            if (following.prepare(next)) {
                messages.answer(from, message, next.term(), NOTHING);
            }
        });
    }

    private void leave(int from, long incarnation, ByteBuffer message) {
        if (leases.isManager()) {
            final Departures.Answer answer = departures.ask(
                    from,
                    incarnation,
                    PeerMessageDescriptor.argument(message),
                    leases.now().monotonicNs());
            messages.answer(from, message, answer.ordinal(), NOTHING);
            alarm.run();
        }
    }

    private void opening(Server serving, int from, ByteBuffer message) {
        final ByteBuffer payload = PeerMessageDescriptor.payload(message);
        final String reason = OpeningMessage.whyInvalid(payload);
        if (reason == null) {
            serving.roleChanges().openings().received(from, OpeningMessage.decoded(payload));
        } else {
            errors.reportExpected("a message of server " + from, new IllegalArgumentException(reason));
        }
    }

    private void present(Adoption following, Server serving, int from, ByteBuffer message) {
        if (PeerMessageDescriptor.isAnswer(message)) {
            copies.answered(from, message);
            serving.wakeUp();
            return;
        }
        final ByteBuffer question = PeerMessageDescriptor.payload(message);
        final String reason = PresentEntries.whyInvalid(question);
        if (reason != null) {
            errors.reportExpected("a message of server " + from, new IllegalArgumentException(reason));
            return;
        }
        final int shard = PeerMessageDescriptor.shard(message);
        final long epoch = PeerMessageDescriptor.argument(message);
        final ShardReplica replica = serving.replicas().find(shard);
        if (replica == null) {
            return;
        }
        final ShardAssignment present = following.prepared().shard(shard);
        final boolean isCopiedHere =
                present.isJoining(serving.serverId()) && present.primary() == from && present.epoch() == epoch;
        if (isCopiedHere || serving.copies().hasBegun(shard, (int) epoch, from)) {
            messages.answer(
                    from,
                    message,
                    0,
                    ByteBuffer.wrap(PresentEntries.presentIn(replica, serving.segments(), question)
                            .toByteArray()));
        }
    }

    private void copy(Adoption following, Server serving, int from, ByteBuffer message) {
        if (PeerMessageDescriptor.isAnswer(message)) {
            copies.answered(from, message);
            return;
        }
        final int shard = PeerMessageDescriptor.shard(message);
        final int epoch = (int) PeerMessageDescriptor.number(message);
        final long bytes = PeerMessageDescriptor.argument(message);
        final ByteBuffer destroyed = PeerMessageDescriptor.payload(message);
        final Configuration present = following.prepared();
        if (shard < 0
                || shard >= present.shardCount()
                || present.shard(shard).primary() != from
                || bytes < 0
                || destroyed.remaining() > MAX_IDS_LENGTH) {
            return;
        }
        final boolean heard = PeerMessageDescriptor.question(message) == PeerRequestType.COPY_ANNOUNCED
                ? serving.joining().announced(shard, epoch, bytes, BitSet.valueOf(destroyed))
                : serving.joining().copied(shard, epoch);
        serving.wakeUp();
        if (heard) {
            messages.answer(from, message, 0, NOTHING);
        }
    }
}
