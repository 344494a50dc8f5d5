package org.rowankv.rdma.landing;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.LandingForce;
import org.rowankv.rdma.MembershipView;
import org.rowankv.rdma.MembershipView.Standing;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.rdma.landing.wire.RefusalStatus;
import org.rowankv.runtime.FaultLog;

/**
 * One incarnation of a server on a fabric on which the receiver lands.
 *
 * <p>Every queue pair has its own connection, numbered in the order in which this endpoint opened them. A hello lists
 * the live ones, so the receiver fences abandoned pairs before the new one lands, even if it has not noticed their end:
 * no old write of a worker follows a new one.
 *
 * <p>Safe for any thread, except that one agent polls messages.
 */
public final class LandingEndpoint implements Endpoint {
    private static final Runnable NO_HANDLER = () -> {};

    private final LandingFabric fabric;
    private final LandingFabricSettings fabricSettings;
    private final EndpointSettings settings;
    private final long nonce;
    private final LandedQueue queue;
    private final @Nullable ForcedLanding forced;
    /** NIC loop only. */
    private final InboundPeers inbound;

    private final CopyOnWriteArrayList<MessageReceiver> receivers = new CopyOnWriteArrayList<>();
    private final Map<Integer, MessageLink> links = new ConcurrentHashMap<>();
    private final CopyOnWriteArrayList<MessageLink.Reader> linkReaders = new CopyOnWriteArrayList<>();
    private final OutboundQueuePairs pairs;
    private final @Nullable SegmentLeases leases;
    private volatile Runnable onMessages = NO_HANDLER;
    private volatile boolean closed;

    LandingEndpoint(
            LandingFabric fabric,
            LandingFabricSettings fabricSettings,
            EndpointSettings settings,
            @Nullable SegmentLeases leases) {
        this.leases = leases;
        this.fabric = fabric;
        this.fabricSettings = fabricSettings;
        this.settings = settings;
        this.nonce = fabricSettings.authentication().draw();
        this.queue = new LandedQueue(settings, () -> fabric.onNic(this::onPosted));
        final LandingForce force = fabricSettings.ackLevel() == AckLevel.FORCED ? settings.force() : null;
        this.forced = force == null ? null : new ForcedLanding(force, fabric.nic(), queue);
        this.inbound = new InboundPeers(settings, queue, fabric.faults());
        this.pairs = new OutboundQueuePairs(this, fabricSettings, nonce);
    }

    @Override
    public long nonce() {
        return nonce;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return queue;
    }

    /** As in the interface; blocks for the handshake, so it must not run on an event loop. */
    @Override
    public QueuePair connect(int remoteServerId, long remoteIncarnation, long term) {
        requireOffLoop();
        return await(
                connectAsync(remoteServerId, remoteIncarnation, term),
                remoteServerId,
                2L * fabricSettings.connectTimeoutMs());
    }

    /** @throws IllegalStateException on the event loop of the NIC agent, which would answer */
    public void requireOffLoop() {
        if (fabric.nic().inEventLoop()) {
            throw new IllegalStateException("the thread that would answer cannot wait for the answer");
        }
    }

    /** Waits for an attempt to connect; closes its result if it comes later. */
    public static QueuePair await(CompletableFuture<QueuePair> opening, int server, long timeoutMs) {
        try {
            return opening.get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof FabricException refusal) {
                throw new FabricException(refusal.reason(), String.valueOf(refusal.getMessage()));
            }
            throw new IllegalStateException("connecting to server " + server, e.getCause());
        } catch (TimeoutException e) {
            giveUp(opening);
            throw RefusalStatus.refusal(Reason.UNKNOWN_PEER, server, "no answer in time");
        } catch (InterruptedException e) {
            giveUp(opening);
            Thread.currentThread().interrupt();
            throw RefusalStatus.refusal(Reason.UNKNOWN_PEER, server, "interrupted while connecting");
        }
    }

    private static void giveUp(CompletableFuture<QueuePair> opening) {
        final var unused = opening.thenAccept(QueuePair::close);
    }

    @Override
    public CompletableFuture<QueuePair> connectAsync(int remoteServerId, long remoteIncarnation, long term) {
        return connect(remoteServerId, remoteIncarnation, term, fabric.nic(), NO_HANDLER);
    }

    @Override
    public long retryNs() {
        return fabricSettings.retryMs() * 1_000_000L;
    }

    /**
     * Opens a queue pair whose I/O runs on that event loop, possibly the owner's own: then there are no thread
     * hand-offs. The result fails with the exceptions of {@link #connect(int, long, long)}, and is completed on the
     * event loop.
     *
     * @param loop of the fabric's {@link LandingFabric#transport}
     * @param onProgress called on the event loop when the owner may poll or retry; must not block
     */
    public CompletableFuture<QueuePair> connect(
            int remoteServerId, long remoteIncarnation, long term, EventLoop loop, Runnable onProgress) {
        return pairs.open(remoteServerId, remoteIncarnation, term, onProgress, (hello, handshake) -> {
            fabric.dial(hello, loop, handshake);
        });
    }

    @Override
    public CompletableFuture<QueuePair> connectAsync(
            int remoteServerId, long remoteIncarnation, long term, IoPoller io) {
        return pairs.open(remoteServerId, remoteIncarnation, term, NO_HANDLER, (hello, handshake) -> {
            fabric.dial(hello, io, handshake);
        });
    }

    /** From now on hellos report this pair as dead. */
    void forget(LandingQueuePair pair) {
        pairs.forget(pair);
    }

    void dial(PeerHello hello, EventLoop loop, OutboundHandshake.Outcome outcome) {
        fabric.dial(hello, loop, handshake(hello, outcome));
    }

    OutboundHandshake handshake(PeerHello hello, OutboundHandshake.Outcome outcome) {
        return new OutboundHandshake(hello, fabricSettings.authentication(), faults(), outcome);
    }

    PeerHello helloForMessages(int serverId) {
        return new PeerHello(
                PeerHandshakeDescriptor.KIND_MESSAGES,
                settings.clusterId(),
                settings.serverId(),
                serverId,
                settings.incarnation(),
                0, // any incarnation of the server may respond
                0,
                nonce,
                0,
                fabricSettings.maxMessage(),
                new long[0]);
    }

    /** Accepts a connection to this endpoint. On the NIC loop; throws the refusal. */
    void accept(PeerHello hello, ChannelHandlerContext context, InboundHandshake handshake) throws WireException {
        if (hello.cluster() != settings.clusterId()) {
            throw RefusalStatus.refusal(Reason.OTHER_CLUSTER, settings.serverId(), "it belongs to another cluster");
        }
        if (closed) {
            throw RefusalStatus.refusal(Reason.UNKNOWN_PEER, settings.serverId(), "it has been closed");
        }
        requireAnnounced(hello, context.channel().remoteAddress());
        inbound.checkNonce(hello, context.channel().remoteAddress());
        if (hello.kind() == PeerHandshakeDescriptor.KIND_MESSAGES) {
            acceptMessages(hello, context, handshake);
            return;
        }
        if (hello.expected() != settings.incarnation()) {
            throw RefusalStatus.refusal(
                    Reason.OTHER_INCARNATION,
                    settings.serverId(),
                    "it is incarnation " + settings.incarnation() + ", not " + hello.expected());
        }
        if (hello.kind() == PeerHandshakeDescriptor.KIND_LEASES) {
            acceptLeases(hello, context, handshake);
            return;
        }
        final int maxMessage =
                Math.min(Math.min(hello.maxMessage(), fabricSettings.maxMessage()), settings.segmentLength());
        final LandingConnection connection =
                new LandingConnection(hello, maxMessage, context.channel(), this, fabricSettings);
        queue.admit(connection, () -> {
            if (closed) {
                throw RefusalStatus.refusal(Reason.UNKNOWN_PEER, settings.serverId(), "it has been closed");
            }
            checkView("there", settings.serverId(), hello.from(), hello.incarnation(), hello.term());
        });
        connection.account(inbound.admitted(hello, connection));
        final int flags = connection.firstReady() ? PeerHandshakeDescriptor.READY : 0;
        handshake.accept(context, welcome(maxMessage, flags), connection);
    }

    private void acceptLeases(PeerHello hello, ChannelHandlerContext context, InboundHandshake handshake) {
        if (leases == null) {
            throw RefusalStatus.refusal(
                    Reason.NOT_ADMITTED, settings.serverId(), "it leases no segments: it runs in another mode");
        }
        checkView("there", settings.serverId(), hello.from(), hello.incarnation(), hello.term());
        final FrameReader reader = leases.accept(hello, context.channel());
        handshake.accept(context, welcome(fabricSettings.maxMessage(), 0), reader);
        leases.welcomed(reader);
    }

    /**
     * Opens a connection for leases of a server's segments.
     *
     * @param number of it; of two to one server the later has the higher
     */
    public void openLeases(int server, long incarnation, long term, long number, OutboundHandshake.Outcome outcome) {
        checkView("here", server, server, incarnation, term);
        if (closed) {
            throw RefusalStatus.refusal(Reason.CLOSED, server, "this endpoint is closed");
        }
        final PeerHello hello = new PeerHello(
                PeerHandshakeDescriptor.KIND_LEASES,
                settings.clusterId(),
                settings.serverId(),
                server,
                settings.incarnation(),
                incarnation,
                term,
                nonce,
                number,
                fabricSettings.maxMessage(),
                new long[0]);
        dial(hello, nic(), outcome);
    }

    /** Fences the queue pairs of the selected servers. */
    public FenceReport fencePairs(IntPredicate selected) {
        return queue.fence(connection -> selected.test(connection.senderId()));
    }

    @Nullable
    SegmentLeases leases() {
        return leases;
    }

    private PeerWelcome welcome(int maxMessage, int flags) {
        return new PeerWelcome(
                settings.incarnation(),
                settings.view().term(),
                settings.segmentBase(),
                settings.segmentLength(),
                settings.segmentCount(),
                maxMessage,
                flags);
    }

    /** Admits connections of either kind only from other members, and from the processes they have registered. */
    private void requireAnnounced(PeerHello hello, Object address) {
        final boolean isOther = hello.from() >= 0 && hello.from() != settings.serverId();
        final Standing standing =
                isOther ? settings.view().standing(hello.from(), hello.incarnation(), hello.nonce()) : Standing.REFUTED;
        if (standing == Standing.ANNOUNCED) {
            return;
        }
        final String peer = "server " + hello.from() + ", incarnation " + hello.incarnation();
        final String why = standing == Standing.UNKNOWN
                ? peer + " is not announced yet"
                : "it is not the process that is registered as " + peer;
        if (standing == Standing.REFUTED) {
            faults().report(WireFault.NO_MEMBER, address, why);
        }
        throw RefusalStatus.refusal(Reason.NOT_ADMITTED, settings.serverId(), why);
    }

    /** One link per server: a new one supersedes the others, one of which may still have unpolled messages. */
    private void acceptMessages(PeerHello hello, ChannelHandlerContext context, InboundHandshake handshake) {
        MessageReceiver former = null;
        for (final MessageReceiver receiver : receivers) {
            if (receiver.peer().from() == hello.from()) {
                receiver.close();
                if (former != null) {
                    receivers.remove(former);
                }
                former = receiver;
            }
        }
        final MessageReceiver receiver = new MessageReceiver(hello, context.channel(), this, fabricSettings);
        receivers.add(receiver);
        handshake.accept(context, welcome(fabricSettings.maxMessage(), 0), receiver);
    }

    void checkView(String where, int remote, int serverId, long incarnation, long term) {
        final MembershipView view = settings.view();
        if (term < view.startTerm()) {
            throw RefusalStatus.refusal(
                    Reason.STALE_TERM, remote, "term " + term + " is stale " + where + ": " + view.startTerm());
        }
        if (!view.admits(serverId, incarnation, term)) {
            throw RefusalStatus.refusal(
                    Reason.NOT_ADMITTED,
                    remote,
                    "server " + serverId + ", incarnation " + incarnation + ", is not admitted " + where + " in term "
                            + term);
        }
    }

    @Override
    public String lastRefusal(int remoteServerId) {
        final MessageLink link = links.get(remoteServerId);
        return link == null ? "" : link.lastRefusal();
    }

    @Override
    public int message(int remoteServerId, ByteBuffer message) {
        if (closed || !fabric.knows(remoteServerId)) {
            return PostStatus.UNREACHABLE;
        }
        return link(remoteServerId).send(message);
    }

    private MessageLink link(int serverId) {
        return links.computeIfAbsent(serverId, id -> new MessageLink(this, id, fabricSettings));
    }

    @Override
    public long takeCredit(int remoteServerId, long remoteIncarnation) {
        return inbound.takeCredit(remoteServerId, remoteIncarnation);
    }

    /** Settles the credit of a dead queue pair at the receiver. */
    void settle(int serverId, long pair, long receivedCredit, long returnedCredit) {
        if (!closed && fabric.knows(serverId)) {
            link(serverId).settle(pair, receivedCredit, returnedCredit);
        }
    }

    /** Processes a sender's settlement. On the NIC loop. */
    void onSettle(PeerHello peer, long pair, long receivedCredit, long returnedCredit) throws WireException {
        inbound.settle(peer, pair, receivedCredit, returnedCredit);
    }

    /** Handles the end of a sender's connection. On the NIC loop. */
    void ended(LandingConnection connection) {
        inbound.ended(connection);
    }

    @Override
    public void onMessages(Runnable handler) {
        onMessages = handler;
    }

    void onMessages() {
        onMessages.run();
    }

    @Override
    public int pollMessages(int limit) {
        int count = 0;
        for (final MessageReceiver receiver : receivers) {
            ByteBuffer message = count < limit ? receiver.poll() : null;
            while (message != null) {
                count++;
                settings.messages()
                        .onMessage(receiver.peer().from(), receiver.peer().incarnation(), message);
                message = count < limit ? receiver.poll() : null;
            }
            if (receiver.isOver()) {
                receivers.remove(receiver);
            }
        }
        return count;
    }

    @Override
    public boolean onLanded(Runnable handler) {
        queue.onLanded(handler);
        return true;
    }

    private void onPosted() {
        queue.connections().forEach(LandingConnection::onPosted);
    }

    /** Adjusts the count of bytes in incomplete frames. On the NIC loop. */
    void held(int delta) {
        fabric.held(delta);
    }

    /** Connections that are receiving long frames. On the NIC loop. */
    Stream<FrameReader> holders() {
        return Stream.concat(queue.connections().stream(), receivers.stream());
    }

    /** Checks all connections for silence. On the NIC loop. */
    void tick(long nowNs) {
        final long heartbeatNs = fabricSettings.heartbeatMs() * 1_000_000L;
        final long idleNs = fabricSettings.idleTimeoutMs() * 1_000_000L;
        queue.connections().forEach(each -> each.tick(nowNs, heartbeatNs, idleNs));
        receivers.forEach(each -> each.tick(nowNs, heartbeatNs, idleNs));
        linkReaders.forEach(each -> each.tick(nowNs, heartbeatNs, idleNs));
        links.values().forEach(MessageLink::retry);
        if (leases != null) {
            leases.tick(nowNs, heartbeatNs, idleNs);
        }
        pairs.tick(nowNs, heartbeatNs, idleNs);
    }

    @Override
    public void close() {
        closed = true;
        pairs.close();
        if (leases != null) {
            leases.close();
        }
        queue.close();
        links.values().forEach(MessageLink::close);
        receivers.forEach(MessageReceiver::close);
        fabric.closed(this);
    }

    /** For tests: links opened by other servers, or with unpolled messages. */
    int messageReceivers() {
        return receivers.size();
    }

    void forget(MessageReceiver receiver) {
        if (receiver.isOver()) {
            receivers.remove(receiver);
        }
    }

    void linkOpened(MessageLink.Reader reader) {
        linkReaders.add(reader);
    }

    void linkEnded(MessageLink.Reader reader) {
        linkReaders.remove(reader);
    }

    public EndpointSettings settings() {
        return settings;
    }

    LandedQueue queue() {
        return queue;
    }

    @Nullable
    ForcedLanding forced() {
        return forced;
    }

    public FaultLog<WireFault> faults() {
        return fabric.faults();
    }

    public EventLoop nic() {
        return fabric.nic();
    }

    ByteBufAllocator allocator() {
        return fabric.allocator();
    }
}
