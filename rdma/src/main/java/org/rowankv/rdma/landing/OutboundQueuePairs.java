package org.rowankv.rdma.landing;

import io.netty.channel.ChannelHandlerContext;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.rdma.landing.wire.RefusalStatus;

/** The queue pairs that an endpoint has opened, and their numbers. For any thread. */
final class OutboundQueuePairs {
    private final LandingEndpoint endpoint;
    private final LandingFabricSettings fabricSettings;
    private final EndpointSettings settings;
    private final long nonce;
    private final CopyOnWriteArrayList<AckReader> readers = new CopyOnWriteArrayList<>();
    private final Object lock = new Object();
    /** Guarded by lock; the value is null while the pair is being opened. */
    private final Map<Integer, TreeMap<Long, @Nullable LandingQueuePair>> pairs = new HashMap<>();
    /** Guarded by lock: time and reason of a failure to reach a server. */
    private final Map<Integer, Failure> failures = new HashMap<>();

    /** Guarded by lock. */
    private long lastNumber;

    /** Guarded by lock. */
    private boolean closed;

    private record Failure(long atNs, FabricException why) {}

    /** @param nonce distinguishes this incarnation of the server from impostors */
    OutboundQueuePairs(LandingEndpoint endpoint, LandingFabricSettings fabricSettings, long nonce) {
        this.endpoint = endpoint;
        this.fabricSettings = fabricSettings;
        this.settings = endpoint.settings();
        this.nonce = nonce;
    }

    /**
     * Starts to open a queue pair.
     *
     * @param onProgress called on its event loop when the owner may poll or retry
     * @param dial connects, and continues with that handshake
     * @return completed on the event loop; fails with a {@link FabricException}
     */
    CompletableFuture<QueuePair> open(
            int server,
            long incarnation,
            long term,
            Runnable onProgress,
            BiConsumer<PeerHello, OutboundHandshake> dial) {
        final CompletableFuture<QueuePair> result = new CompletableFuture<>();
        final PeerHello hello;
        try {
            endpoint.checkView("here", server, server, incarnation, term);
            hello = register(server, incarnation, term);
        } catch (FabricException e) {
            result.completeExceptionally(e);
            return result;
        }
        dial.accept(hello, endpoint.handshake(hello, new PairDialing(hello, result, onProgress)));
        return result;
    }

    private PeerHello register(int remoteServerId, long remoteIncarnation, long term) {
        synchronized (lock) {
            if (closed) {
                throw RefusalStatus.refusal(Reason.CLOSED, remoteServerId, "this endpoint is closed");
            }
            final Failure failure = failures.get(remoteServerId);
            if (failure != null) {
                if (fabricSettings.clock().nanoTime() - failure.atNs < fabricSettings.retryMs() * 1_000_000L) {
                    throw new FabricException(failure.why.reason(), String.valueOf(failure.why.getMessage()));
                }
                failures.remove(remoteServerId);
            }
            final TreeMap<Long, @Nullable LandingQueuePair> live =
                    pairs.computeIfAbsent(remoteServerId, unused -> new TreeMap<>());
            if (live.size() >= PeerHandshakeDescriptor.MAX_LIVE) {
                throw RefusalStatus.refusal(Reason.CLOSED, remoteServerId, live.size() + " queue pairs are open");
            }
            final long[] numbers =
                    live.keySet().stream().mapToLong(Long::longValue).toArray();
            live.put(++lastNumber, null);
            return new PeerHello(
                    PeerHandshakeDescriptor.KIND_QUEUE_PAIR,
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
        private final PeerHello hello;
        private final CompletableFuture<QueuePair> result;
        private final Runnable onProgress;

        PairDialing(PeerHello hello, CompletableFuture<QueuePair> result, Runnable onProgress) {
            this.hello = hello;
            this.result = result;
            this.onProgress = onProgress;
        }

        @Override
        public FrameReader welcomed(ChannelHandlerContext context, PeerWelcome welcome) {
            final InFlightRing ring = new InFlightRing(fabricSettings.completions());
            final AckReader[] self = new AckReader[1];
            final AckReader reader = new AckReader(
                    context.channel(),
                    (welcome.flags() & PeerHandshakeDescriptor.READY) != 0,
                    endpoint.faults(),
                    fabricSettings.clock(),
                    onProgress,
                    () -> unregister(hello, self[0]));
            self[0] = reader;
            final LandingQueuePair pair = new LandingQueuePair(
                    endpoint,
                    hello.to(),
                    hello.pair(),
                    welcome,
                    Math.min(fabricSettings.maxMessage(), welcome.maxMessage()),
                    context.channel(),
                    reader,
                    ring);
            final boolean late;
            synchronized (lock) {
                late = closed;
                pairs.getOrDefault(hello.to(), new TreeMap<>()).replace(hello.pair(), pair);
            }
            readers.add(reader);
            if (late) {
                reader.endHere();
            }
            result.complete(pair);
            return reader;
        }

        @Override
        public void failed(FabricException why) {
            synchronized (lock) {
                if (why.reason() == Reason.UNKNOWN_PEER || why.reason() == Reason.UNPROVEN) {
                    failures.put(hello.to(), new Failure(fabricSettings.clock().nanoTime(), why));
                }
            }
            unregister(hello, null);
            result.completeExceptionally(why);
        }
    }

    private void unregister(PeerHello hello, @Nullable AckReader reader) {
        remove(hello.to(), hello.pair());
        if (reader != null) {
            readers.remove(reader);
        }
    }

    /** From now on hellos report this pair as dead. */
    void forget(LandingQueuePair pair) {
        remove(pair.remoteServerId(), pair.number());
    }

    private void remove(int server, long number) {
        synchronized (lock) {
            final TreeMap<Long, @Nullable LandingQueuePair> live = pairs.get(server);
            if (live != null) {
                live.remove(number);
                if (live.isEmpty()) {
                    pairs.remove(server);
                }
            }
        }
    }

    /** Checks all pairs for silence. On the NIC loop. */
    void tick(long nowNs, long heartbeatNs, long idleNs) {
        for (final AckReader reader : readers) {
            reader.scheduleTick(nowNs, heartbeatNs, idleNs);
        }
    }

    /** Fences open pairs; those being opened end once they are open. */
    void close() {
        final List<LandingQueuePair> mine = new ArrayList<>();
        synchronized (lock) {
            closed = true;
            for (final Map<Long, @Nullable LandingQueuePair> live : pairs.values()) {
                for (final LandingQueuePair pair : live.values()) {
                    if (pair != null) {
                        mine.add(pair);
                    }
                }
            }
        }
        mine.forEach(LandingQueuePair::cutOff);
    }
}
