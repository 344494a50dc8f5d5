package org.rowankv.rdma.local;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.LandingForce;
import org.rowankv.rdma.MembershipView;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;

/**
 * One incarnation of a server on the local fabric.
 *
 * <p>A connection is admitted under the monitor of the remote's receive queue, which also guards its fences: either the
 * fence finds it in the list, or the membership view, changed before the fence, refuses it.
 *
 * <p>Safe for any thread, except that one agent polls messages.
 */
final class LocalEndpoint implements Endpoint {
    private final LocalFabric fabric;
    private final LocalFabricSettings fabricSettings;
    private final EndpointSettings settings;
    private final LandingRing ring;
    private final LocalReceiveQueue queue;
    private final MpscAtomicArrayQueue<Message> messages;
    private final Set<LocalQueuePair> outgoing = new HashSet<>();
    private volatile boolean closed;

    private record Message(int from, long incarnation, ByteBuffer bytes) {}

    LocalEndpoint(
            LocalFabric fabric,
            LocalFabricSettings fabricSettings,
            EndpointSettings settings,
            List<LocalQueuePair> lingering) {
        this.fabric = fabric;
        this.fabricSettings = fabricSettings;
        this.settings = settings;
        this.ring = new LandingRing(settings, fabricSettings.counters());
        this.queue = new LocalReceiveQueue(settings, ring, lingering);
        this.messages = new MpscAtomicArrayQueue<>(fabricSettings.messages());
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return queue;
    }

    @Override
    public QueuePair connect(int remoteServerId, long remoteIncarnation, long term) {
        final LocalEndpoint remote = fabric.endpoint(remoteServerId);
        if (remote == null) {
            throw refusal(Reason.UNKNOWN_PEER, remoteServerId, "it is not open");
        }
        final EndpointSettings other = remote.settings;
        if (other.clusterId() != settings.clusterId()) {
            throw refusal(Reason.OTHER_CLUSTER, remoteServerId, "it belongs to another cluster");
        }
        if (other.incarnation() != remoteIncarnation) {
            throw refusal(
                    Reason.OTHER_INCARNATION,
                    remoteServerId,
                    "it is incarnation " + other.incarnation() + ", not " + remoteIncarnation);
        }
        checkView(settings.view(), "here", remoteServerId, remoteServerId, remoteIncarnation, term);
        final LocalQueuePair pair = new LocalQueuePair(this, remote, fabricSettings);
        synchronized (outgoing) {
            if (closed) {
                throw refusal(Reason.CLOSED, remoteServerId, "this endpoint is closed");
            }
            outgoing.add(pair);
        }
        try {
            remote.queue.admit(pair, () -> remote.checkCaller(settings, term));
        } catch (FabricException e) {
            forget(pair);
            throw e;
        }
        return pair;
    }

    /** The remote side of the handshake. */
    private void checkCaller(EndpointSettings caller, long term) {
        if (closed) {
            throw refusal(Reason.UNKNOWN_PEER, settings.serverId(), "it has been closed");
        }
        checkView(settings.view(), "there", settings.serverId(), caller.serverId(), caller.incarnation(), term);
    }

    private static void checkView(
            MembershipView view, String where, int remote, int serverId, long incarnation, long term) {
        if (term < view.startTerm()) {
            throw refusal(Reason.STALE_TERM, remote, "term " + term + " is stale " + where + ": " + view.startTerm());
        }
        if (!view.admits(serverId, incarnation, term)) {
            throw refusal(
                    Reason.NOT_ADMITTED,
                    remote,
                    "server " + serverId + ", incarnation " + incarnation + ", is not admitted " + where + " in term "
                            + term);
        }
    }

    private static FabricException refusal(Reason reason, int remoteServerId, String why) {
        return new FabricException(reason, "no connection to server " + remoteServerId + ": " + why);
    }

    @Override
    public int message(int remoteServerId, ByteBuffer message) {
        final LocalEndpoint remote = fabric.endpoint(remoteServerId);
        if (closed || remote == null || remote.settings.clusterId() != settings.clusterId()) {
            return PostStatus.UNREACHABLE;
        }
        if (message.remaining() > fabricSettings.maxRpc()) {
            return PostStatus.TOO_LARGE;
        }
        final ByteBuffer copy = ByteBuffer.allocate(message.remaining()).order(message.order());
        copy.put(0, message, message.position(), message.remaining());
        final Message entry = new Message(settings.serverId(), settings.incarnation(), copy);
        return remote.messages.offer(entry) ? PostStatus.POSTED : PostStatus.QUEUE_FULL;
    }

    @Override
    public int pollMessages(int limit) {
        int count = 0;
        while (count < limit) {
            final Message message = messages.poll();
            if (message == null) {
                break;
            }
            count++;
            settings.messages().onMessage(message.from, message.incarnation, message.bytes);
        }
        return count;
    }

    @Override
    public void close() {
        final List<LocalQueuePair> own;
        synchronized (outgoing) {
            closed = true;
            own = List.copyOf(outgoing);
            outgoing.clear();
        }
        own.forEach(LocalQueuePair::markFenced);
        fabric.closed(this, queue.close());
    }

    /** Force that completions of this endpoint's senders wait for, or null. */
    @Nullable
    LandingForce force() {
        return fabricSettings.ackLevel() == AckLevel.FORCED ? settings.force() : null;
    }

    EndpointSettings settings() {
        return settings;
    }

    LandingRing ring() {
        return ring;
    }

    LocalReceiveQueue queue() {
        return queue;
    }

    boolean isClosed() {
        return closed;
    }

    void forget(LocalQueuePair pair) {
        synchronized (outgoing) {
            outgoing.remove(pair);
        }
    }
}
