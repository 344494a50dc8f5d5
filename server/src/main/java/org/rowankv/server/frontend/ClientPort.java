package org.rowankv.server.frontend;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.Channel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameLimits;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.SelectorPoller;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.FaultLog;
import org.rowankv.server.catalogue.CatalogueThread;
import org.rowankv.server.catalogue.ClientCatalogue;
import org.rowankv.server.engine.Server;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.Routing;
import org.rowankv.topology.RoutingDescriptor;
import org.rowankv.topology.ShardMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where clients of other processes reach a server: listens, and serves its clients from event loops of its own.
 *
 * <p>Bytes from outside are believed in nothing: what is malformed costs its own connection, is counted, and logged at the
 * first and at every tenfold. Thread-safe. To be closed before its server.
 */
public final class ClientPort implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClientPort.class);
    private static final int BACKLOG = 1_024;

    private final ClientPortSettings settings;
    private final FrameLimits limits;
    /** Another one with each start of the server; changed while no loop has anything of it in hand. */
    private volatile RequestBackend served;

    /** Between two starts of the server: nobody is served, who comes waits. */
    private volatile boolean paused;

    private final ErrorLog errors;
    private final PortCounters counts;
    private final CatalogueThread catalogue;
    private final ServerSocketChannel listener;
    private final List<ClientEventLoop> loops = new ArrayList<>();

    /** A routing, and what is made of it once. */
    private record Told(Routing routing, byte[] bytes, KeyHash keyHash) {
        static Told of(Routing routing) {
            return new Told(
                    routing,
                    RoutingDescriptor.encode(routing),
                    new KeyHash(routing.configuration().hashSeed()));
        }
    }

    /** Null until it serves. */
    private volatile @Nullable Told told;

    private final AtomicLong lastConnection = new AtomicLong();
    private boolean closed;

    private ClientPort(
            RequestBackend served,
            ClientCatalogue catalogue,
            ClientPortSettings settings,
            Clock clock,
            ErrorLog errors,
            PortCounters counts,
            List<IoPoller> ios)
            throws IOException {
        this.settings = settings;
        this.limits = new RequestLimits(served.longestEntry(), settings.maxFrame());
        this.counts = counts;
        this.served = served;
        this.errors = errors;
        this.catalogue = new CatalogueThread(catalogue, errors, settings.maxFrame());
        this.listener = ServerSocketChannel.open();
        try {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(
                    settings.host().isEmpty()
                            ? new InetSocketAddress(settings.port())
                            : new InetSocketAddress(settings.host(), settings.port()),
                    BACKLOG);
            listener.configureBlocking(false);
            for (int i = 0; i < settings.loops(); i++) {
                loops.add(new ClientEventLoop(this, ios.get(i), clock, i, counts.ofLoop(i)));
            }
        } catch (IOException | RuntimeException e) {
            closeQuietly(listener);
            throw e;
        }
    }

    /**
     * Begins to listen, for a server that was started. Whoever connects waits for {@link #serve}.
     *
     * @param catalogue may block
     * @throws IOException if it cannot listen there; says where
     */
    public static ClientPort bind(
            Server server, ClientCatalogue catalogue, ClientPortSettings settings, Clock clock, ErrorLog errors)
            throws IOException {
        return bind(new BackendShards(server), catalogue, settings, clock, errors);
    }

    /** As above, for something else that answers. */
    public static ClientPort bind(
            RequestBackend served, ClientCatalogue catalogue, ClientPortSettings settings, Clock clock, ErrorLog errors)
            throws IOException {
        final List<IoPoller> ios = new ArrayList<>();
        try {
            for (int i = 0; i < settings.loops(); i++) {
                ios.add(new SelectorPoller());
            }
            return bind(served, catalogue, settings, clock, errors, new PortCounters(), ios);
        } catch (IOException | RuntimeException e) {
            ios.forEach(IoPoller::close);
            throw e;
        }
    }

    /**
     * As above.
     *
     * @param counts to be gone on with: of no other port that is open
     * @param ios one for each loop, which owns it, and ends it when the port is closed; if there is no port, they stay the
     *     caller's
     */
    public static ClientPort bind(
            Server server,
            ClientCatalogue catalogue,
            ClientPortSettings settings,
            Clock clock,
            ErrorLog errors,
            PortCounters counts,
            List<IoPoller> ios)
            throws IOException {
        return bind(new BackendShards(server), catalogue, settings, clock, errors, counts, ios);
    }

    private static ClientPort bind(
            RequestBackend served,
            ClientCatalogue catalogue,
            ClientPortSettings settings,
            Clock clock,
            ErrorLog errors,
            PortCounters counts,
            List<IoPoller> ios)
            throws IOException {
        try {
            return new ClientPort(served, catalogue, settings, clock, errors, counts, ios);
        } catch (IOException | RuntimeException e) {
            throw new IOException(
                    "cannot listen for clients at " + settings.host() + ":" + settings.port() + ": " + e.getMessage(),
                    e);
        }
    }

    /**
     * Begins to serve. Once.
     *
     * @param routing what clients are told first; {@link #publish} tells them of others
     */
    public synchronized ClientPort serve(Routing routing) {
        if (told != null || closed) {
            throw new IllegalStateException("the client port serves already, or is closed");
        }
        told = Told.of(routing);
        try {
            loops.get(0).watch(listener, new ClientAcceptor(this, listener, loops));
        } catch (ClosedChannelException e) {
            throw new IllegalStateException("the client port is closed", e);
        }
        loops.forEach(ClientEventLoop::start);
        LOG.info("Server {} listens for clients at {}", served.serverId(), address());
        return this;
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        try {
            return (InetSocketAddress) listener.getLocalAddress();
        } catch (IOException e) {
            throw new IllegalStateException("the client port is closed", e);
        }
    }

    /** What clients are told from now on; those that are connected at once. Of an older term, or the same: nothing happens. */
    public synchronized void publish(Routing routing) {
        if (routing.term() > told().routing().term()) {
            final Told next = Told.of(routing);
            told = next;
            loops.forEach(ClientEventLoop::publish);
        }
    }

    /**
     * The server has no roles any more, and will get others: from now on requests wait, a second at most. Returns when nothing of
     * the server is touched any more; what was under way by then and may take effect is answered NO_REPLY. Connections stay.
     */
    public synchronized void pause() {
        if (paused || closed || told == null) {
            return;
        }
        paused = true;
        catalogue.use(null);
        final CountDownLatch left = new CountDownLatch(loops.size());
        loops.forEach(loop -> loop.execute(() -> {
            try {
                loop.leaveServer();
            } finally {
                left.countDown();
            }
        }));
        boolean interrupted = false;
        for (boolean done = false; !done; ) {
            try {
                left.await(); // ends: a loop runs every task, after its own end on the thread that brings it
                done = true;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** After {@link #pause}: goes on with what serves now; clients are told the routing, then what has waited is answered. */
    public void resume(Server next, ClientCatalogue nextCatalogue, Routing routing) {
        resume(new BackendShards(next), nextCatalogue, routing);
    }

    /** As above, for something else that answers. */
    public synchronized void resume(RequestBackend next, ClientCatalogue nextCatalogue, Routing routing) {
        if (!paused || closed || routing.term() < told().routing().term()) {
            throw new IllegalStateException("the client port was not paused, or is closed, or knows of a later term");
        }
        final Told now = Told.of(routing);
        served = next;
        told = now;
        catalogue.use(nextCatalogue);
        paused = false;
        loops.forEach(loop -> loop.execute(loop::resume));
    }

    // --- for the loops ---

    ClientPortSettings settings() {
        return settings;
    }

    /** Of what clients send. */
    FrameLimits limits() {
        return limits;
    }

    RequestBackend served() {
        return served;
    }

    FaultLog<WireFault> faults() {
        return counts.faults();
    }

    ErrorLog errors() {
        return errors;
    }

    CatalogueThread catalogue() {
        return catalogue;
    }

    private Told told() {
        final Told now = told;
        if (now == null) {
            throw new IllegalStateException("the client port does not serve yet");
        }
        return now;
    }

    Routing routing() {
        return told().routing();
    }

    @SuppressWarnings("ReturnsArray") // shared, and changed by nobody
    byte[] routingBytes() {
        return told().bytes();
    }

    /** A number that no other connection of this port has or had, ≥ 1. Any thread. */
    long nextConnection() {
        return lastConnection.incrementAndGet();
    }

    boolean isCrowded() {
        return counts.connections() > settings.maxConnections();
    }

    void connectionClosed() {
        counts.connectionClosed();
    }

    boolean isPaused() {
        return paused;
    }

    int serverId() {
        return served.serverId();
    }

    void countUnfinished() {
        counts.countUnfinished();
    }

    /** Gives the request its place; false if that is not where its client has sent it. */
    boolean place(Request request, int shard) {
        final Told now = told();
        final Operation operation = request.operation();
        if (operation != Operation.CLEAR
                && operation != Operation.OPEN_SESSION
                && operation != Operation.CLOSE_SESSION) {
            final long hash =
                    now.keyHash().hash(request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
            if (ShardMap.shardOf(hash, now.routing().configuration().shardCount()) != shard) {
                return false;
            }
            request.placed(hash, shard);
        }
        return true;
    }

    /**
     * OK, or why the shard's requests of a client with a configuration of that term are not answered here. Who knows of a
     * newer configuration than this server is not served by it: in that one the shard may be another's.
     */
    Status whyNotServed(int shard, long clientTerm) {
        final Routing routing = told().routing();
        final long term = routing.term();
        if (shard < 0 || shard >= routing.configuration().shardCount()) {
            return Status.BAD_REQUEST;
        }
        if (paused) {
            return Status.NOT_PRIMARY;
        }
        if (!served.isServing()) {
            return Status.CLOSED;
        }
        if (clientTerm > term) {
            return Status.NOT_PRIMARY;
        }
        return served.isPrimary(shard) ? Status.OK : clientTerm < term ? Status.STALE_TERM : Status.NOT_PRIMARY;
    }

    // --- what is told of it ---

    public PortCounters counts() {
        return counts;
    }

    /** Connections that are open now. */
    public int connections() {
        return counts.connections();
    }

    /** Requests that were answered. */
    public long requests() {
        return counts.requests();
    }

    /** Requests that were answered STALE_TERM: their clients had an older configuration, and the shard has another primary. */
    public long staleTerms() {
        return counts.staleTerms();
    }

    /** Requests that had been applied before, by an attempt whose answer was lost: answered from what is remembered of it. */
    public long joinedRetries() {
        return counts.replayed();
    }

    /** How many times a request came, or was left over, while the server had no roles, and had to wait. */
    public long waited() {
        return counts.waited();
    }

    /** Requests that were given up when the port was closed. */
    public long unfinished() {
        return counts.unfinished();
    }

    /** Connections that were closed for what came over them. */
    public long faults(WireFault fault) {
        return counts.faults(fault);
    }

    /** Listens no more, answers what is under way as long as the settings allow, and closes every connection. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        boolean interrupted = false;
        closeQuietly(listener);
        loops.forEach(told == null ? ClientEventLoop::neverStarted : ClientEventLoop::close);
        for (boolean done = false; !done; ) {
            try {
                for (ClientEventLoop loop : loops) {
                    loop.join();
                }
                catalogue.close(settings.drainNs());
                done = true;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    static void closeQuietly(Channel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("A channel did not close well", e);
        }
    }
}
