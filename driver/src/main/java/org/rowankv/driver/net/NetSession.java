package org.rowankv.driver.net;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.driver.api.StreamPosition;
import org.rowankv.driver.session.StepTimer;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.wire.BytesFrame;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.StackProbe;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;
import org.rowankv.topology.RoutingDescriptor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Session over TCP to the shards' primaries. Thread-safe. Starts threads to connect, to request configurations, for
 * asynchronous callers and for change streams only.
 *
 * <p>An attempt goes to the primary by the newest known configuration, and waits for a connection that is being
 * established. A request that was not sent ends with UNREACHABLE, one without a timely response with NO_REPLY.
 */
public final class NetSession implements Session {
    /**
     * Stack depth of a call that writes and reads for other callers. It shares their state, so it must not start
     * without this depth.
     */
    private static final int PROBE_DEPTH = 48;

    private static final Logger LOG = LoggerFactory.getLogger(NetSession.class);
    /** Limit of requests in flight on a change stream's connection: of the poller, and of threads that wake it. */
    private static final int STREAM_MAX_IN_FLIGHT = 64;

    private final NetSettings settings;
    /** Copy of the setting. */
    private final long attemptNs;

    private final Clock clock;
    private final List<String> bootstrap;
    private final NetCatalogue catalogue;
    private final NetChanges changes = new NetChanges(this);
    private final ReentrantLock routing = new ReentrantLock();
    private final StepTimer timer;
    private volatile @Nullable Route route;
    private volatile boolean closed;

    private NetSession(List<String> bootstrap, NetSettings settings, Clock clock) {
        this.settings = settings;
        this.attemptNs = settings.attemptNs();
        this.clock = clock;
        this.bootstrap = List.copyOf(bootstrap);
        this.catalogue = new NetCatalogue(this);
        this.timer = new StepTimer(clock);
    }

    /**
     * Connects to a cluster.
     *
     * @param addresses of servers in the cluster, each {@code host:port}; one reachable server suffices
     * @throws RowanException UNREACHABLE if no server is reachable; the message gives the reason for each
     */
    public static NetSession connect(List<String> addresses, NetSettings settings, Clock clock) {
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("no address to connect to");
        }
        addresses.forEach(Handshake::addressOf);
        final NetSession session = new NetSession(addresses, settings, clock);
        boolean connected = false;
        try {
            session.bootstrap();
            connected = true;
        } finally {
            if (!connected) {
                session.close();
            }
        }
        return session;
    }

    private void bootstrap() {
        final List<String> reasons = new ArrayList<>();
        for (String address : bootstrap) {
            final ServerLink link = link(address, 0);
            try {
                // Allows the configuration as much time as the connection.
                if (requestRouting(link, clock.nanoTime() + 2 * settings.connectNs()) && route != null) {
                    return;
                }
                reasons.add(link.whyUnreachable());
            } finally {
                link.close();
            }
        }
        throw new RowanException(
                Status.UNREACHABLE, "no server of the cluster can be reached: " + String.join("; ", reasons));
    }

    private ServerLink link(String address, long clusterId) {
        return link(address, clusterId, settings);
    }

    private ServerLink link(String address, long clusterId, NetSettings of) {
        return new ServerLink(
                address,
                of,
                clock,
                (to, isStopped) -> Handshake.connect(to, clusterId, of, clock, isStopped, this::onRouting));
    }

    /** A link for change streams alone, because their requests wait long. The caller closes it. */
    ServerLink streamLink(String address) {
        final NetSettings own =
                settings.withConnections(1, STREAM_MAX_IN_FLIGHT).withSpinNs(0);
        return link(address, route().configuration().clusterId(), own);
    }

    Route route() {
        final Route now = route;
        if (now == null) {
            throw new IllegalStateException("not connected yet");
        }
        return now;
    }

    NetSettings settings() {
        return settings;
    }

    Clock clock() {
        return clock;
    }

    // --- the configuration ---

    /** Handles a routing update, on the reading thread of any connection. */
    private void onRouting(byte[] bytes) {
        final Routing received;
        try {
            received = RoutingDescriptor.decode(bytes);
        } catch (IllegalArgumentException e) {
            LOG.warn("ROWAN-1002 Ignoring malformed routing update", e);
            return;
        }
        routing.lock();
        try {
            final Route before = route;
            if (closed || before != null && before.term() >= received.term()) {
                return;
            }
            if (before != null && !isSameStore(before.configuration(), received.configuration())) {
                LOG.warn("ROWAN-1003 Ignoring routing update of another cluster");
                return;
            }
            final long cluster = received.configuration().clusterId();
            final Route next = Route.of(received, before, address -> link(address, cluster));
            route = next;
            if (before != null) {
                before.closeUnused(next);
            }
        } finally {
            routing.unlock();
        }
    }

    /** Cluster id, hash seed and shard count never change in a cluster. */
    private static boolean isSameStore(Configuration one, Configuration other) {
        return one.clusterId() == other.clusterId()
                && one.hashSeed() == other.hashSeed()
                && one.shardCount() == other.shardCount();
    }

    /** Requests the routing from one server; returns whether it responded. */
    private boolean requestRouting(ServerLink link, long deadlineNs) {
        return send(link, deadlineNs, new ControlRequest() {
            @Override
            public void write(FrameEncoder out, long number) {
                BytesFrame.write(out, ClientFrameDescriptor.ROUTING_REQUEST, number);
            }

            @Override
            public void read(ByteBuffer buffer, int at, int length) throws WireException {
                // The connection has already processed it.
                requireType(buffer, at, ClientFrameDescriptor.ROUTING);
            }
        });
    }

    static void requireType(ByteBuffer buffer, int at, int type) throws WireException {
        if (FrameHeadDescriptor.type(buffer, at) != type) {
            throw new WireException(
                    WireFault.BAD_FRAME, "type " + FrameHeadDescriptor.type(buffer, at) + ", expected " + type);
        }
    }

    /** Sends a control request; returns whether the server responded. */
    boolean send(ServerLink link, long deadlineNs, ControlRequest controlRequest) {
        final NetConnection connection = link.connection(deadlineNs);
        return connection != null && send(connection, deadlineNs, controlRequest);
    }

    static boolean send(NetConnection connection, long deadlineNs, ControlRequest controlRequest) {
        final InFlightRequest inFlight = connection.acquire(deadlineNs);
        if (inFlight == null) {
            return false;
        }
        inFlight.prepare(controlRequest);
        connection.enqueue(inFlight);
        connection.flush();
        return connection.await(inFlight, deadlineNs) == InFlightRequest.Outcome.ANSWERED;
    }

    /**
     * Sends to all servers concurrently, so an unresponsive one delays no other. Concurrent callers share a request in
     * flight.
     */
    @Override
    public boolean seek(long knownTerm) {
        final Route now = route();
        final boolean isNewer = now.term() > knownTerm;
        if (!isNewer && !closed) {
            for (ServerLink link : now.links()) {
                link.requestSoon(this::requestRouting);
            }
        }
        return isNewer;
    }

    /** Requests a newer configuration, because the known one is stale or its primary unreachable. */
    void refresh(long knownTerm, long deadlineNs) {
        for (ServerLink link : route().links()) {
            if (route().term() > knownTerm || closed) {
                return;
            }
            final long nowNs = clock.nanoTime();
            requestRouting(link, nowNs + Math.min(deadlineNs - nowNs, settings.connectNs()));
        }
    }

    @Override
    public Configuration configuration() {
        return route().configuration();
    }

    @Override
    public boolean needsRequestIds() {
        return true;
    }

    @Override
    public boolean isRemote() {
        return true;
    }

    // --- requests ---

    @Override
    public void call(Request request) {
        final long nowNs = clock.nanoTime();
        call(request, nowNs, nowNs + attemptNs);
    }

    /** End of an attempt that begins now. */
    private long endOf(long nowNs, long deadlineNs) {
        final long leftNs = deadlineNs - nowNs;
        return leftNs < attemptNs ? deadlineNs : nowNs + attemptNs;
    }

    @Override
    public void call(Request request, long beginNs, long untilNs) {
        StackProbe.require(PROBE_DEPTH);
        final Route now = route();
        final Status refused = whyNotSent(request, now, beginNs, untilNs);
        if (refused == Status.OK) {
            RequestCall.call(request, now, beginNs, endOf(beginNs, untilNs), attemptNs);
        } else {
            request.fail(refused);
        }
    }

    @Override
    public void callAll(List<Request> requests) {
        callAll(requests, clock.nanoTime() + attemptNs);
    }

    @Override
    public void callAll(List<Request> requests, long untilNs) {
        StackProbe.require(PROBE_DEPTH);
        final long nowNs = clock.nanoTime();
        if (closed || untilNs - nowNs <= 0) {
            requests.forEach(request -> request.fail(closed ? Status.CLOSED : Status.UNREACHABLE));
        } else {
            CallBatch.callAll(requests, route(), nowNs, endOf(nowNs, untilNs), attemptNs);
        }
    }

    @Override
    public void callAsync(Request request, long untilNs, Runnable whenAnswered) {
        StackProbe.require(PROBE_DEPTH);
        final long nowNs = clock.nanoTime();
        final Route now = route();
        final Status refused = whyNotSent(request, now, nowNs, untilNs);
        if (refused == Status.OK) {
            new AsyncCall(this, now, request, nowNs, endOf(nowNs, untilNs), whenAnswered).step();
        } else {
            request.fail(refused);
            whenAnswered.run();
        }
    }

    StepTimer timer() {
        return timer;
    }

    boolean isClosed() {
        return closed;
    }

    /** OK if the request can be sent. */
    private Status whyNotSent(Request request, Route now, long nowNs, long untilNs) {
        if (closed) {
            return Status.CLOSED;
        }
        if (!now.hasShard(request.shard())) {
            return Status.BAD_REQUEST;
        }
        return untilNs - nowNs > 0 ? Status.OK : Status.UNREACHABLE;
    }

    @Override
    public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
        requireOpen();
        final Route now = route();
        final PageRequest controlRequest = new PageRequest(now.term(), cacheId, shard, position, limit, withValues);
        final boolean answered = send(now.primaryOf(shard), clock.nanoTime() + attemptNs, controlRequest);
        final Status status = answered ? controlRequest.status() : Status.UNREACHABLE;
        if (status != Status.OK) {
            throw new RowanException(status, "the scan of shard " + shard + " failed: " + status);
        }
        return controlRequest.page();
    }

    @Override
    public boolean streamsChanges() {
        return true;
    }

    @Override
    public ChangeSubscription subscribe(
            int cacheId, boolean oldValues, @Nullable StreamPosition from, ChangeListener listener) {
        return changes.subscribe(cacheId, oldValues, from, listener);
    }

    void requireOpen() {
        if (closed) {
            throw new RowanException(Status.CLOSED, "the store is closed");
        }
    }

    @Override
    public Catalogue catalogue() {
        return catalogue;
    }

    /** Connections established since the start, to all current servers. */
    public long connectionsMade() {
        return route().links().stream().mapToLong(ServerLink::made).sum();
    }

    @Override
    public long reconnects() {
        return route().links().stream().mapToLong(ServerLink::madeAgain).sum();
    }

    @Override
    public void close() {
        routing.lock();
        try {
            closed = true;
            final Route last = route;
            if (last != null) {
                last.closeUnused(null);
            }
        } finally {
            routing.unlock();
        }
        timer.hurry();
        changes.close();
    }
}
