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
import org.rowankv.topology.Routing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Endpoint for clients of other processes: listens, and serves its clients on its own event loops.
 *
 * <p>Input is untrusted: malformed input closes its connection, is counted, and is logged at counts 1, 10, 100, and so
 * on. Thread-safe. Close it before its server.
 */
public final class ClientPort implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClientPort.class);
    private static final int BACKLOG = 1_024;

    private final ClientPortSettings settings;
    private final FrameLimits limits;
    /** Replaced at each start of the server, while no loop accesses it. */
    private volatile RequestBackend served;

    /** Between two starts of the server: no request is served, new requests are held. */
    private volatile boolean paused;

    private final ErrorLog errors;
    private final PortCounters counts;
    private final CatalogueThread catalogue;
    private final ServerSocketChannel listener;
    private final List<ClientEventLoop> loops = new ArrayList<>();

    private final PortRouting routing = new PortRouting();
    private final Clock clock;
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
        this.clock = clock;
        this.limits = settings.frameLimits(served.longestEntry());
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
     * Starts to listen, for a started server. Connections wait for {@link #serve}.
     *
     * @param catalogue may block
     * @throws IOException if the address cannot be bound; the message names it
     */
    public static ClientPort bind(
            Server server, ClientCatalogue catalogue, ClientPortSettings settings, Clock clock, ErrorLog errors)
            throws IOException {
        return bind(new BackendShards(server), catalogue, settings, clock, errors);
    }

    /** As above, for another backend. */
    public static ClientPort bind(
            RequestBackend served, ClientCatalogue catalogue, ClientPortSettings settings, Clock clock, ErrorLog errors)
            throws IOException {
        final List<IoPoller> ios = new ArrayList<>();
        try {
            for (int i = 0; i < settings.loops(); i++) {
                ios.add(new SelectorPoller());
            }
            return bind(served, catalogue, settings, clock, errors, new PortCounters(clock), ios);
        } catch (IOException | RuntimeException e) {
            ios.forEach(IoPoller::close);
            throw e;
        }
    }

    /**
     * As above.
     *
     * @param counts continued by this port; no other open port uses them
     * @param ios one per loop, owned by it and closed with the port; if binding fails, they stay the caller's
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
     * Starts to serve. Call once.
     *
     * @param first routing for clients; {@link #publish} replaces it
     */
    public synchronized ClientPort serve(Routing first) {
        if (routing.isSet() || closed) {
            throw new IllegalStateException("the client port is serving or closed");
        }
        routing.set(first);
        try {
            loops.get(0).watch(listener, new ClientAcceptor(this, listener, loops));
        } catch (ClosedChannelException e) {
            throw new IllegalStateException("the client port is closed", e);
        }
        loops.forEach(ClientEventLoop::start);
        served.observe(this::rolesChanged);
        LOG.info("Client port listening: server={} address={}", served.serverId(), address());
        return this;
    }

    /** The address it listens at. */
    public InetSocketAddress address() {
        try {
            return (InetSocketAddress) listener.getLocalAddress();
        } catch (IOException e) {
            throw new IllegalStateException("the client port is closed", e);
        }
    }

    /**
     * Replaces the routing, and announces it to all connected clients: at once, or when a shard that is handed over has
     * left this server or was opened here, or after 20 ms. No effect unless its term is newer.
     */
    public synchronized void publish(Routing next) {
        final long nowNs = clock.nanoTime();
        if (routing.follow(next, nowNs)) {
            loops.forEach(ClientEventLoop::lookAtRouting);
            announce(nowNs);
        }
    }

    /** Tells clients of the routing in force, if it is time. Any thread; never blocks. */
    void announce(long nowNs) {
        if (routing.announce(served, nowNs)) {
            loops.forEach(ClientEventLoop::publish);
        }
    }

    /**
     * Suspends service: the server has lost its roles and will receive others. Later requests are held, for a second at
     * most. Returns when no loop accesses the server any more. Pending mutations that may have taken effect are
     * answered NO_REPLY. Connections stay open.
     */
    public synchronized void pause() {
        if (paused || closed || !routing.isSet()) {
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
                left.await(); // terminates: a loop runs every task, after its own end on the submitting thread
                done = true;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * After {@link #pause}: continues with the new server. Clients receive the routing first, then held requests are
     * answered.
     */
    public void resume(Server next, ClientCatalogue nextCatalogue, Routing nextRouting) {
        resume(new BackendShards(next), nextCatalogue, nextRouting);
    }

    /** As above, for another backend. */
    public synchronized void resume(RequestBackend next, ClientCatalogue nextCatalogue, Routing nextRouting) {
        if (!paused || closed || nextRouting.term() < routing.inForce().term()) {
            throw new IllegalStateException("the client port is not paused, or is closed, or has a later term");
        }
        served = next;
        next.observe(this::rolesChanged);
        routing.set(nextRouting);
        catalogue.use(nextCatalogue);
        paused = false;
        loops.forEach(loop -> loop.execute(loop::resume));
    }

    // --- for the loops ---

    ClientPortSettings settings() {
        return settings;
    }

    /** Limits of frames from clients. */
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

    PortRouting routing() {
        return routing;
    }

    /** A number that no other connection of this port has or had, ≥ 1. Thread-safe. */
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

    /**
     * OK, or why requests for the shard, from a client with a configuration of that term, are refused. A client with a
     * newer configuration than this server is refused: the shard may have another primary there.
     */
    Status whyNotServed(int shard, long clientTerm) {
        final Routing inForce = routing.inForce();
        final long term = inForce.term();
        if (shard < 0 || shard >= inForce.configuration().shardCount()) {
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

    /**
     * Whether a request refused with NOT_PRIMARY is merely early: the shard is about to be opened here, or the client has a
     * configuration that this server does not have yet.
     */
    boolean isEarly(int shard, long clientTerm) {
        return !paused && served.isServing() && (clientTerm > routing.inForce().term() || served.isOpening(shard));
    }

    /** Shards may have been opened, or have gone elsewhere. */
    private void rolesChanged() {
        if (routing.isAnnouncing()) {
            announce(clock.nanoTime());
        }
        loops.forEach(ClientEventLoop::lookAtEarly);
    }

    // --- counters ---

    public PortCounters counts() {
        return counts;
    }

    /** Open connections. */
    public int connections() {
        return counts.connections();
    }

    /** Answered requests. */
    public long requests() {
        return counts.requests();
    }

    /** Requests answered STALE_TERM: the client had an older configuration, and the shard has another primary. */
    public long staleTerms() {
        return counts.staleTerms();
    }

    /** How many times a request was held because the server had no roles. */
    public long waited() {
        return counts.waited();
    }

    /** Requests abandoned when the port was closed. */
    public long unfinished() {
        return counts.unfinished();
    }

    /** Connections closed because of that fault. */
    public long faults(WireFault fault) {
        return counts.faults(fault);
    }

    /** Stops listening, answers pending requests within the drain time, and closes every connection. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        boolean interrupted = false;
        closeQuietly(listener);
        loops.forEach(routing.isSet() ? ClientEventLoop::close : ClientEventLoop::neverStarted);
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
            LOG.debug("Closing a channel failed", e);
        }
    }
}
