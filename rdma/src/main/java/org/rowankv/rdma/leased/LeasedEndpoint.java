package org.rowankv.rdma.leased;

import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.channel.OneSidedChannel;
import org.rowankv.rdma.channel.VerbsTransport;
import org.rowankv.rdma.landing.LandingEndpoint;
import org.rowankv.rdma.landing.LandingFabricSettings;
import org.rowankv.rdma.landing.LandingQueuePair;
import org.rowankv.rdma.landing.OutboundHandshake;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.rdma.landing.wire.RefusalStatus;
import org.rowankv.rdma.verbs.VerbsException;

/**
 * One incarnation of a server on the fabric of leases. All queue pairs to one server share a stream of WRITEs; a new one is
 * opened once the former has ended, or a queue pair of it.
 *
 * <p>Safe for any thread, except that one agent polls messages.
 */
final class LeasedEndpoint implements Endpoint {
    /** Room for a batch to be filled while others are in flight. */
    private static final int STAGED_MESSAGES = 8;

    private static final int LEAST_STAGING = 256 << 10;

    private final LandingEndpoint endpoint;
    private final LeasedQueue queue;
    private final VerbsTransport transport;
    private final LandingFabricSettings settings;
    /** NIC loop only: of streams whose queue pairs are destroyed. */
    private final ArrayDeque<StagingMemory> freeStaging = new ArrayDeque<>();

    /** Guarded by itself: the last stream to each server. */
    private final Map<Integer, Opening> streams = new HashMap<>();

    /** Guarded by streams. */
    private long lastNumber;

    /** A stream that is open or being opened, and its queue pairs. */
    private static final class Opening {
        private final long incarnation;
        private final long term;
        private final CompletableFuture<WriteStream> stream = new CompletableFuture<>();
        private final List<LandingQueuePair> pairs = new CopyOnWriteArrayList<>();

        Opening(long incarnation, long term) {
            this.incarnation = incarnation;
            this.term = term;
        }

        /** Not if the receiver has fenced a queue pair: the stream's end may not be seen yet. */
        boolean isUsable(long expected) {
            if (incarnation != expected || stream.isCompletedExceptionally()) {
                return false;
            }
            final WriteStream open = stream.getNow(null);
            return (open == null || !open.isEnded()) && pairs.stream().noneMatch(LandingQueuePair::isFenced);
        }
    }

    LeasedEndpoint(
            LandingEndpoint endpoint, LeasedQueue queue, VerbsTransport transport, LandingFabricSettings settings) {
        this.endpoint = endpoint;
        this.queue = queue;
        this.transport = transport;
        this.settings = settings;
        queue.bind(endpoint);
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return queue;
    }

    @Override
    public long nonce() {
        return endpoint.nonce();
    }

    @Override
    public QueuePair connect(int remoteServerId, long remoteIncarnation, long term) {
        endpoint.requireOffLoop();
        return LandingEndpoint.await(
                connectAsync(remoteServerId, remoteIncarnation, term),
                remoteServerId,
                4L * settings.connectTimeoutMs());
    }

    /** For tests: what it opens connections by. */
    LandingEndpoint landing() {
        return endpoint;
    }

    @Override
    public CompletableFuture<QueuePair> connectAsync(int remoteServerId, long remoteIncarnation, long term) {
        final CompletableFuture<QueuePair> result = new CompletableFuture<>();
        final Opening opening;
        try {
            opening = streamTo(remoteServerId, remoteIncarnation, term);
        } catch (FabricException e) {
            return CompletableFuture.failedFuture(e);
        }
        final var unused = opening.stream
                .thenCompose(stream -> endpoint.connectAsync(remoteServerId, remoteIncarnation, term)
                        .thenApply(pair -> pairOf(opening, stream, (LandingQueuePair) pair)))
                .whenComplete((pair, failure) -> {
                    if (failure == null) {
                        result.complete(pair);
                    } else {
                        final boolean isWrapped = failure instanceof CompletionException && failure.getCause() != null;
                        result.completeExceptionally(isWrapped ? failure.getCause() : failure);
                    }
                });
        return result;
    }

    private QueuePair pairOf(Opening opening, WriteStream stream, LandingQueuePair pair) {
        opening.pairs.add(pair);
        return new LeasedQueuePair(
                pair, stream, settings.completions(), !settings.keepsReserve(), () -> opening.pairs.remove(pair));
    }

    @Override
    public CompletableFuture<QueuePair> connectAsync(
            int remoteServerId, long remoteIncarnation, long term, IoPoller io) {
        return connectAsync(remoteServerId, remoteIncarnation, term);
    }

    private Opening streamTo(int server, long incarnation, long term) {
        final Opening opening;
        final long number;
        synchronized (streams) {
            final Opening present = streams.get(server);
            if (present != null && present.isUsable(incarnation)) {
                // A term that is stale is refused when the queue pair connects.
                return present;
            }
            opening = new Opening(incarnation, term);
            lastNumber++;
            number = lastNumber;
            streams.put(server, opening);
            if (present != null) {
                end(present);
            }
        }
        try {
            endpoint.openLeases(server, incarnation, opening.term, number, new Dialing(server, number, opening));
        } catch (FabricException e) {
            opening.stream.completeExceptionally(e);
            throw e;
        }
        return opening;
    }

    private static void end(Opening opening) {
        final var unused = opening.stream.thenAccept(WriteStream::abort);
    }

    private final class Dialing implements OutboundHandshake.Outcome {
        private final int server;
        private final long number;
        private final Opening opening;

        Dialing(int server, long number, Opening opening) {
            this.server = server;
            this.number = number;
            this.opening = opening;
        }

        @Override
        public FrameReader welcomed(ChannelHandlerContext context, PeerWelcome welcome) {
            final OneSidedChannel channel = (OneSidedChannel) context.channel();
            final WriteStream[] self = new WriteStream[1];
            try {
                final StagingMemory staging = takeStaging();
                self[0] = new WriteStream(
                        number,
                        welcome.segmentLength(),
                        endpoint.nic(),
                        channel,
                        staging,
                        () -> opening.stream.complete(self[0]));
            } catch (VerbsException e) {
                throw new java.io.UncheckedIOException(e);
            }
            final FrameReader[] reader = new FrameReader[1];
            final LeaseReader opened = new LeaseReader(
                    welcome, channel, self[0], () -> onEnded(self[0], reader[0]), endpoint.faults(), settings.clock());
            reader[0] = opened;
            self[0].reader(opened);
            queue.watch(opened);
            return opened;
        }

        private void onEnded(WriteStream stream, FrameReader reader) {
            queue.unwatch(reader);
            freeStaging.add(stream.release());
            failed(RefusalStatus.refusal(Reason.UNKNOWN_PEER, server, "it closed the connection for leases"));
        }

        @Override
        public void failed(FabricException why) {
            opening.stream.completeExceptionally(why);
        }
    }

    private StagingMemory takeStaging() throws VerbsException {
        final StagingMemory free = freeStaging.poll();
        return free != null
                ? free
                : new StagingMemory(
                        transport,
                        Math.max(LEAST_STAGING, STAGED_MESSAGES * settings.maxMessage()),
                        WriteStream.BATCHES);
    }

    @Override
    public long retryNs() {
        return endpoint.retryNs();
    }

    @Override
    public String lastRefusal(int remoteServerId) {
        return endpoint.lastRefusal(remoteServerId);
    }

    @Override
    public int message(int remoteServerId, ByteBuffer message) {
        return endpoint.message(remoteServerId, message);
    }

    @Override
    public int pollMessages(int limit) {
        return endpoint.pollMessages(limit);
    }

    @Override
    public void onMessages(Runnable handler) {
        endpoint.onMessages(handler);
    }

    /** No thread of this server knows of a landing. */
    @Override
    public boolean onLanded(Runnable handler) {
        return false;
    }

    @Override
    public long takeCredit(int remoteServerId, long remoteIncarnation) {
        return endpoint.takeCredit(remoteServerId, remoteIncarnation);
    }

    @Override
    public void close() {
        final List<Opening> open;
        synchronized (streams) {
            open = List.copyOf(streams.values());
        }
        endpoint.close();
        open.forEach(LeasedEndpoint::end);
    }
}
