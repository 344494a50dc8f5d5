package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
import org.rowankv.rdma.tcp.HelloDescriptor.Hello;
import org.rowankv.rdma.tcp.HelloDescriptor.Welcome;
import org.rowankv.runtime.FaultLog;
import org.rowankv.runtime.SecureSeed;

/**
 * One incarnation of a server on the TCP fabric.
 *
 * <p>Every queue pair is a connection of its own, numbered in the order in which this endpoint opened them. A hello lists
 * those that live, so the receiver fences what this end has given up before the new one lands anything, also if it has
 * not heard of the end: of one worker nothing old comes behind something new.
 *
 * <p>Safe for any thread, except that one agent polls messages.
 */
public final class TcpEndpoint implements Endpoint {
    private static final Runnable NOBODY = () -> {};

    private final TcpFabric fabric;
    private final TcpFabricSettings fabricSettings;
    private final EndpointSettings settings;
    private final long nonce = SecureSeed.next();
    private final TcpReceiveQueue queue;
    private final @Nullable ForcedLanding forced;
    /** NIC loop only. */
    private final InboundPeers inbound;

    private final CopyOnWriteArrayList<MessageReceiver> receivers = new CopyOnWriteArrayList<>();
    private final Map<Integer, MessageLink> links = new ConcurrentHashMap<>();
    private final CopyOnWriteArrayList<MessageLink.Reader> linkReaders = new CopyOnWriteArrayList<>();
    private final CopyOnWriteArrayList<PairReader> pairReaders = new CopyOnWriteArrayList<>();
    private final Object outgoing = new Object();
    /** Guarded by outgoing; the value is null while the pair is being opened. */
    private final Map<Integer, TreeMap<Long, @Nullable TcpQueuePair>> pairs = new HashMap<>();
    /** Guarded by outgoing: when a server could not be reached, and why. */
    private final Map<Integer, Failure> failures = new HashMap<>();

    /** Guarded by outgoing. */
    private long lastNumber;

    private volatile Runnable onMessages = NOBODY;
    private volatile boolean closed;

    private record Failure(long atNs, FabricException why) {}

    TcpEndpoint(TcpFabric fabric, TcpFabricSettings fabricSettings, EndpointSettings settings) {
        this.fabric = fabric;
        this.fabricSettings = fabricSettings;
        this.settings = settings;
        this.queue = new TcpReceiveQueue(settings, () -> fabric.onNic(this::onPosted));
        final LandingForce force = fabricSettings.ackLevel() == AckLevel.FORCED ? settings.force() : null;
        this.forced = force == null ? null : new ForcedLanding(force, fabric.nic(), queue);
        this.inbound = new InboundPeers(settings, queue, fabric.faults());
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return queue;
    }

    /** As the interface says; waits for the handshake, so not for an event loop. */
    @Override
    public QueuePair connect(int remoteServerId, long remoteIncarnation, long term) {
        if (fabric.nic().inEventLoop()) {
            throw new IllegalStateException("the thread that would answer cannot wait for the answer");
        }
        final CompletableFuture<QueuePair> opening =
                connect(remoteServerId, remoteIncarnation, term, fabric.nic(), NOBODY);
        try {
            return opening.get(2L * fabricSettings.connectTimeoutMs(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof FabricException refusal) {
                throw new FabricException(refusal.reason(), String.valueOf(refusal.getMessage()));
            }
            throw new IllegalStateException("connecting to server " + remoteServerId, e.getCause());
        } catch (TimeoutException e) {
            giveUp(opening);
            throw Refusals.refusal(Reason.UNKNOWN_PEER, remoteServerId, "no answer in time");
        } catch (InterruptedException e) {
            giveUp(opening);
            Thread.currentThread().interrupt();
            throw Refusals.refusal(Reason.UNKNOWN_PEER, remoteServerId, "interrupted while connecting");
        }
    }

    @Override
    public CompletableFuture<QueuePair> connectAsync(int remoteServerId, long remoteIncarnation, long term) {
        return connect(remoteServerId, remoteIncarnation, term, fabric.nic(), NOBODY);
    }

    @Override
    public long retryNs() {
        return fabricSettings.retryMs() * 1_000_000L;
    }

    private static void giveUp(CompletableFuture<QueuePair> opening) {
        final var unused = opening.thenAccept(QueuePair::close);
    }

    /**
     * Opens a queue pair whose I/O is done by that event loop, which may be the owner's own: then nothing is handed from
     * thread to thread. The result fails with the exceptions of {@link #connect(int, long, long)}, and is completed on the
     * event loop.
     *
     * @param loop of the fabric's {@link TcpFabric#transport}
     * @param onProgress called on the event loop when there is something to poll or to try again; must not block
     */
    public CompletableFuture<QueuePair> connect(
            int remoteServerId, long remoteIncarnation, long term, EventLoop loop, Runnable onProgress) {
        final CompletableFuture<QueuePair> result = new CompletableFuture<>();
        final Hello hello;
        try {
            checkView("here", remoteServerId, remoteServerId, remoteIncarnation, term);
            hello = register(remoteServerId, remoteIncarnation, term);
        } catch (FabricException e) {
            result.completeExceptionally(e);
            return result;
        }
        dial(hello, loop, new PairDialing(hello, result, onProgress));
        return result;
    }

    private Hello register(int remoteServerId, long remoteIncarnation, long term) {
        synchronized (outgoing) {
            if (closed) {
                throw Refusals.refusal(Reason.CLOSED, remoteServerId, "this endpoint is closed");
            }
            final Failure failure = failures.get(remoteServerId);
            if (failure != null) {
                if (fabricSettings.clock().nanoTime() - failure.atNs < fabricSettings.retryMs() * 1_000_000L) {
                    throw new FabricException(failure.why.reason(), String.valueOf(failure.why.getMessage()));
                }
                failures.remove(remoteServerId);
            }
            final TreeMap<Long, @Nullable TcpQueuePair> live =
                    pairs.computeIfAbsent(remoteServerId, unused -> new TreeMap<>());
            if (live.size() >= HelloDescriptor.MAX_LIVE) {
                throw Refusals.refusal(Reason.CLOSED, remoteServerId, live.size() + " queue pairs are open");
            }
            final long[] numbers =
                    live.keySet().stream().mapToLong(Long::longValue).toArray();
            live.put(++lastNumber, null);
            return new Hello(
                    HelloDescriptor.KIND_QUEUE_PAIR,
                    settings.clusterId(),
                    settings.serverId(),
                    remoteServerId,
                    settings.incarnation(),
                    remoteIncarnation,
                    term,
                    nonce,
                    lastNumber,
                    fabricSettings.maxMessage(),
                    numbers);
        }
    }

    /** One attempt to open a queue pair. */
    private final class PairDialing implements OutboundHandshake.Outcome {
        private final Hello hello;
        private final CompletableFuture<QueuePair> result;
        private final Runnable onProgress;

        PairDialing(Hello hello, CompletableFuture<QueuePair> result, Runnable onProgress) {
            this.hello = hello;
            this.result = result;
            this.onProgress = onProgress;
        }

        @Override
        public FrameReader welcomed(ChannelHandlerContext context, Welcome welcome) {
            final PostedRing ring = new PostedRing(fabricSettings.completions());
            final PairReader[] self = new PairReader[1];
            final PairReader reader = new PairReader(
                    context.channel(),
                    ring,
                    (welcome.flags() & HelloDescriptor.READY) != 0,
                    faults(),
                    fabricSettings.clock(),
                    onProgress,
                    () -> unregister(hello, self[0]));
            self[0] = reader;
            final TcpQueuePair pair = new TcpQueuePair(
                    TcpEndpoint.this,
                    hello.to(),
                    hello.pair(),
                    welcome,
                    Math.min(fabricSettings.maxMessage(), welcome.maxMessage()),
                    context.channel(),
                    reader,
                    ring);
            final boolean late;
            synchronized (outgoing) {
                late = closed;
                pairs.getOrDefault(hello.to(), new TreeMap<>()).replace(hello.pair(), pair);
            }
            pairReaders.add(reader);
            if (late) {
                reader.endHere();
            }
            result.complete(pair);
            return reader;
        }

        @Override
        public void failed(FabricException why) {
            synchronized (outgoing) {
                if (why.reason() == Reason.UNKNOWN_PEER) {
                    failures.put(hello.to(), new Failure(fabricSettings.clock().nanoTime(), why));
                }
            }
            unregister(hello, null);
            result.completeExceptionally(why);
        }
    }

    private void unregister(Hello hello, @Nullable PairReader reader) {
        remove(hello.to(), hello.pair());
        if (reader != null) {
            pairReaders.remove(reader);
        }
    }

    /** From now on a hello says that this pair is dead. */
    void forget(TcpQueuePair pair) {
        remove(pair.remoteServerId(), pair.number());
    }

    private void remove(int server, long number) {
        synchronized (outgoing) {
            final TreeMap<Long, @Nullable TcpQueuePair> live = pairs.get(server);
            if (live != null) {
                live.remove(number);
                if (live.isEmpty()) {
                    pairs.remove(server);
                }
            }
        }
    }

    void dial(Hello hello, EventLoop loop, OutboundHandshake.Outcome outcome) {
        fabric.dial(hello, loop, new OutboundHandshake(hello, faults(), outcome));
    }

    Hello helloForMessages(int serverId) {
        return MessageLink.hello(
                settings.serverId(),
                settings.clusterId(),
                serverId,
                settings.incarnation(),
                nonce,
                fabricSettings.maxMessage());
    }

    /** Somebody wants a connection with this endpoint. On the NIC loop; throws the refusal. */
    void accept(Hello hello, ChannelHandlerContext context, InboundHandshake handshake) throws WireException {
        if (hello.cluster() != settings.clusterId()) {
            throw Refusals.refusal(Reason.OTHER_CLUSTER, settings.serverId(), "it belongs to another cluster");
        }
        if (closed) {
            throw Refusals.refusal(Reason.UNKNOWN_PEER, settings.serverId(), "it has been closed");
        }
        inbound.checkNonce(hello, context.channel().remoteAddress());
        if (hello.kind() == HelloDescriptor.KIND_MESSAGES) {
            acceptMessages(hello, context, handshake);
            return;
        }
        if (hello.expected() != settings.incarnation()) {
            throw Refusals.refusal(
                    Reason.OTHER_INCARNATION,
                    settings.serverId(),
                    "it is incarnation " + settings.incarnation() + ", not " + hello.expected());
        }
        final int maxMessage =
                Math.min(Math.min(hello.maxMessage(), fabricSettings.maxMessage()), settings.segmentLength());
        final LandingConnection connection =
                new LandingConnection(hello, maxMessage, context.channel(), this, fabricSettings);
        queue.admit(connection, () -> {
            if (closed) {
                throw Refusals.refusal(Reason.UNKNOWN_PEER, settings.serverId(), "it has been closed");
            }
            checkView("there", settings.serverId(), hello.from(), hello.incarnation(), hello.term());
        });
        connection.account(inbound.admitted(hello, connection));
        final Welcome welcome = new Welcome(
                HelloDescriptor.VERSION,
                Refusals.ACCEPTED,
                settings.incarnation(),
                settings.view().term(),
                settings.segmentBase(),
                settings.segmentLength(),
                settings.segmentCount(),
                maxMessage,
                connection.firstReady() ? HelloDescriptor.READY : 0,
                "");
        handshake.accept(context, welcome, connection);
    }

    private void acceptMessages(Hello hello, ChannelHandlerContext context, InboundHandshake handshake) {
        for (final MessageReceiver receiver : receivers) {
            if (receiver.peer().from() == hello.from()) {
                receiver.close();
            }
        }
        final MessageReceiver receiver = new MessageReceiver(hello, context.channel(), this, fabricSettings);
        receivers.add(receiver);
        final Welcome welcome = new Welcome(
                HelloDescriptor.VERSION,
                Refusals.ACCEPTED,
                settings.incarnation(),
                settings.view().term(),
                settings.segmentBase(),
                settings.segmentLength(),
                settings.segmentCount(),
                fabricSettings.maxMessage(),
                0,
                "");
        handshake.accept(context, welcome, receiver);
    }

    private void checkView(String where, int remote, int serverId, long incarnation, long term) {
        final MembershipView view = settings.view();
        if (term < view.term()) {
            throw Refusals.refusal(
                    Reason.STALE_TERM, remote, "term " + term + " is stale " + where + ": " + view.term());
        }
        if (!view.admits(serverId, incarnation, term)) {
            throw Refusals.refusal(
                    Reason.NOT_ADMITTED,
                    remote,
                    "server " + serverId + ", incarnation " + incarnation + ", is not admitted " + where + " in term "
                            + term);
        }
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

    /** What a dead queue pair of ours had and gave back of the credit there. */
    void settle(int serverId, long pair, long heardOf, long givenBack) {
        if (!closed && fabric.knows(serverId)) {
            link(serverId).settle(pair, heardOf, givenBack);
        }
    }

    /** A sender says the same to us. On the NIC loop. */
    void onSettle(Hello peer, long pair, long heardOf, long givenBack) throws WireException {
        inbound.settle(peer, pair, heardOf, givenBack);
    }

    /** A sender's connection is gone. On the NIC loop. */
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

    /** Looks after everybody's silence. On the NIC loop. */
    void tick(long nowNs) {
        final long heartbeatNs = fabricSettings.heartbeatMs() * 1_000_000L;
        final long idleNs = fabricSettings.idleTimeoutMs() * 1_000_000L;
        queue.connections().forEach(each -> each.tick(nowNs, heartbeatNs, idleNs));
        receivers.forEach(each -> each.tick(nowNs, heartbeatNs, idleNs));
        linkReaders.forEach(each -> each.tick(nowNs, heartbeatNs, idleNs));
        links.values().forEach(MessageLink::retry);
        for (final PairReader reader : pairReaders) {
            reader.scheduleTick(nowNs, heartbeatNs, idleNs);
        }
    }

    @Override
    public void close() {
        final List<TcpQueuePair> mine = new ArrayList<>();
        synchronized (outgoing) {
            closed = true;
            for (final Map<Long, @Nullable TcpQueuePair> live : pairs.values()) {
                for (final TcpQueuePair pair : live.values()) {
                    if (pair != null) {
                        mine.add(pair);
                    }
                }
            }
        }
        mine.forEach(TcpQueuePair::cutOff);
        queue.close();
        links.values().forEach(MessageLink::close);
        receivers.forEach(MessageReceiver::close);
        fabric.closed(this);
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

    EndpointSettings settings() {
        return settings;
    }

    TcpReceiveQueue queue() {
        return queue;
    }

    @Nullable
    ForcedLanding forced() {
        return forced;
    }

    FaultLog<WireFault> faults() {
        return fabric.faults();
    }

    EventLoop nic() {
        return fabric.nic();
    }

    ByteBufAllocator allocator() {
        return fabric.allocator();
    }
}
