package org.rowankv.driver.net;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.driver.api.StreamPosition;
import org.rowankv.driver.session.RetrySchedule;
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

    /** How long a request for the routing is followed by a wait for a newer one. */
    private static final long LISTEN_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final NetSettings settings;
    /** Copy of the setting. */
    private final long attemptNs;

    private final Clock clock;
    private final Attempts attempts;
    private final List<String> bootstrap;
    private final NetCatalogue catalogue;
    private final NetChanges changes = new NetChanges(this);
    private final ReentrantLock routing = new ReentrantLock();
    // --- guarded by routing: what was counted at links of earlier routes ---
    private final Set<String> reachedBefore = new HashSet<>();
    private long madeBefore;
    private long madeAgainBefore;
    // --- end of what the lock guards ---
    private volatile @Nullable Route route;
    private volatile boolean closed;

    private NetSession(List<String> bootstrap, NetSettings settings, Clock clock) {
        this.settings = settings;
        this.attemptNs = settings.attemptNs();
        this.clock = clock;
        this.bootstrap = List.copyOf(bootstrap);
        this.catalogue = new NetCatalogue(this);
        this.attempts = new Attempts(settings, clock);
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

    /** Asks the first server; after each silence, and each failure, one more. */
    private void bootstrap() {
        final List<ServerLink> links =
                bootstrap.stream().map(address -> link(address, 0)).toList();
        // Allows the configuration as much time as the connection.
        final long timeoutNs = 2 * settings.connectNs();
        try {
            long failed = 0;
            for (long waitedNs = 0; route == null && waitedNs < timeoutNs && failed < links.size(); ) {
                final long asked = 1 + failed + waitedNs / settings.silenceNs();
                links.stream().limit(asked).forEach(link -> link.requestSoon(this::requestRouting));
                RetrySchedule.pause(POLL_NS);
                waitedNs += POLL_NS;
                failed = links.stream()
                        .filter(link -> !link.lastFailure().isEmpty())
                        .count();
            }
            if (route == null) {
                throw new RowanException(
                        Status.UNREACHABLE,
                        "no server of the cluster can be reached: "
                                + links.stream().map(ServerLink::whyUnreachable).collect(Collectors.joining("; ")));
            }
        } finally {
            links.forEach(ServerLink::close);
        }
    }

    private ServerLink link(String address, long clusterId) {
        return link(address, clusterId, settings);
    }

    private ServerLink link(String address, long clusterId, NetSettings of) {
        return new ServerLink(
                address,
                of,
                clock,
                (to, isStopped) -> Handshake.connect(to, clusterId, of, clock, isStopped, new RoutesOf(to)));
    }

    /** The routing, as the connections to one server see it. */
    private final class RoutesOf implements SessionRoutes {
        private final String address;

        RoutesOf(String address) {
            this.address = address;
        }

        @Override
        public void onRouting(byte[] bytes) {
            NetSession.this.onRouting(bytes);
        }

        @Override
        public long term() {
            final Route now = route;
            return now == null ? 0 : now.term();
        }

        @Override
        public boolean hasLeft(int shard, long term) {
            final Route now = route;
            return now != null && now.term() > term && !now.isAt(address, shard);
        }

        @Override
        public void onSilence() {
            final Route now = route;
            if (now != null) {
                seek(now.term());
            }
        }
    }

    /**
     * A link for change streams alone, because their requests wait long. The caller closes it.
     *
     * @param silenceNs longest regular silence of the server
     */
    ServerLink streamLink(String address, long silenceNs) {
        final NetSettings own =
                settings.withConnections(1, STREAM_MAX_IN_FLIGHT).withSpinNs(0).withSilenceNs(silenceNs);
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
        final Route before;
        routing.lock();
        try {
            before = route;
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
                before.closeUnused(next).forEach(this::keepCounts);
            }
        } finally {
            routing.unlock();
        }
        if (before != null) {
            before.links().forEach(ServerLink::rerouted);
            changes.rerouted();
        }
    }

    /** Cluster id, hash seed and shard count never change in a cluster. */
    private static boolean isSameStore(Configuration one, Configuration other) {
        return one.clusterId() == other.clusterId()
                && one.hashSeed() == other.hashSeed()
                && one.shardCount() == other.shardCount();
    }

    /** Requests the routing from one server, once it is connected. */
    private void requestRouting(ServerLink link, long deadlineNs) {
        final boolean unused = link.connection(deadlineNs) != null
                && send(link, route, deadlineNs, new ControlRequest() {
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

    /** As above; then reads what the server pushes, because it may know of nothing newer yet. */
    private void listen(ServerLink link, long deadlineNs) {
        final long term = route().term();
        requestRouting(link, deadlineNs);
        final NetConnection present = link.present();
        if (present != null && !closed) {
            present.listen(term, clock.nanoTime() + LISTEN_NS);
        }
    }

    static void requireType(ByteBuffer buffer, int at, int type) throws WireException {
        if (FrameHeadDescriptor.type(buffer, at) != type) {
            throw new WireException(
                    WireFault.BAD_FRAME, "type " + FrameHeadDescriptor.type(buffer, at) + ", expected " + type);
        }
    }

    /** Sends a control request; returns whether the server responded. */
    boolean send(ServerLink link, @Nullable Route by, long deadlineNs, ControlRequest controlRequest) {
        return attempts.call(link, controlRequest, by == null ? 0 : by.term(), deadlineNs);
    }

    /**
     * Asks all servers concurrently, so an unresponsive one delays no other, and listens to them for a while. Concurrent
     * callers share a request in flight.
     */
    @Override
    public boolean seek(long knownTerm) {
        final Route now = route();
        final boolean isNewer = now.term() > knownTerm;
        if (!isNewer && !closed) {
            now.links().forEach(link -> link.requestSoon(this::listen));
        }
        return isNewer;
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
            attempts.call(request, now, beginNs, endOf(beginNs, untilNs));
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
            attempts.callAll(requests, route(), nowNs, endOf(nowNs, untilNs));
        }
    }

    @Override
    public void callAsync(Request request, long untilNs, Runnable whenAnswered) {
        StackProbe.require(PROBE_DEPTH);
        final long nowNs = clock.nanoTime();
        final Route now = route();
        final Status refused = whyNotSent(request, now, nowNs, untilNs);
        if (refused == Status.OK) {
            attempts.callAsync(request, now, nowNs, endOf(nowNs, untilNs), whenAnswered);
        } else {
            request.fail(refused);
            whenAnswered.run();
        }
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
        final boolean answered = send(now.primaryOf(shard), now, clock.nanoTime() + attemptNs, controlRequest);
        final Status status =
                answered && controlRequest.status() != Status.CLOSED ? controlRequest.status() : Status.UNREACHABLE;
        if (status != Status.OK) {
            requireOpen();
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

    /** Requires the lock: its server may return, and a count never becomes less. */
    private void keepCounts(ServerLink closedLink) {
        madeBefore += closedLink.made();
        madeAgainBefore += madeAgain(closedLink);
        if (closedLink.made() > 0) {
            reachedBefore.add(closedLink.address());
        }
    }

    /** Requires the lock. */
    private long madeAgain(ServerLink link) {
        return reachedBefore.contains(link.address()) ? link.made() : link.madeAgain();
    }

    /** Connections established since the start. */
    public long connectionsMade() {
        routing.lock();
        try {
            return madeBefore
                    + route().links().stream().mapToLong(ServerLink::made).sum();
        } finally {
            routing.unlock();
        }
    }

    @Override
    public long reconnects() {
        routing.lock();
        try {
            return madeAgainBefore
                    + route().links().stream().mapToLong(this::madeAgain).sum();
        } finally {
            routing.unlock();
        }
    }

    @Override
    public void close() {
        routing.lock();
        try {
            closed = true;
            final Route last = route;
            if (last != null) {
                final List<ServerLink> unused = last.closeUnused(null);
            }
        } finally {
            routing.unlock();
        }
        changes.close();
    }
}
