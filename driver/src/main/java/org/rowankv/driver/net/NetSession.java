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
 * Carries requests over TCP to the shards' primaries. Thread-safe; starts threads to connect, to ask for a newer
 * configuration, for callers that do not wait and for change streams, and no others.
 *
 * <p>An attempt goes to the primary by the configuration that is the newest known then; if there is no connection to it, the attempt
 * waits for one that is being made. What was not sent is answered UNREACHABLE, what has no answer in time NO_REPLY.
 */
public final class NetSession implements Session {
    /** As deep as a caller that writes, reads and lets others do so. It shares what it uses with others: better not begun. */
    private static final int PROBE_DEPTH = 48;

    private static final Logger LOG = LoggerFactory.getLogger(NetSession.class);
    /** Without an answer on a connection for change streams: of the thread that polls, and of those that want it to look. */
    private static final int STREAM_QUESTIONS = 64;

    private final NetSettings settings;
    /** Of the settings. */
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
     * @param addresses of any of its servers, each {@code host:port}; one that can be reached suffices
     * @throws RowanException UNREACHABLE if none can; says why of each
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
                // As long again for the configuration as for the connection.
                if (askRouting(link, clock.nanoTime() + 2 * settings.connectNs()) && route != null) {
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

    /** A link for change streams alone, since who waits for those waits for long. The caller closes it. */
    ServerLink streamLink(String address) {
        final NetSettings own = settings.withConnections(1, STREAM_QUESTIONS).withSpinNs(0);
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

    /** Somebody told of a routing: whoever reads, on whichever connection. */
    private void onRouting(byte[] bytes) {
        final Routing told;
        try {
            told = RoutingDescriptor.decode(bytes);
        } catch (IllegalArgumentException e) {
            LOG.warn("A server told of a configuration that is none", e);
            return;
        }
        routing.lock();
        try {
            final Route before = route;
            if (closed || before != null && before.term() >= told.term()) {
                return;
            }
            if (before != null && !isSameStore(before.configuration(), told.configuration())) {
                LOG.warn("A server told of another cluster's configuration; it is ignored");
                return;
            }
            final long cluster = told.configuration().clusterId();
            final Route next = Route.of(told, before, address -> link(address, cluster));
            route = next;
            if (before != null) {
                before.closeUnused(next);
            }
        } finally {
            routing.unlock();
        }
    }

    /** Nothing that keys are placed by ever changes in a cluster. */
    private static boolean isSameStore(Configuration one, Configuration other) {
        return one.clusterId() == other.clusterId()
                && one.hashSeed() == other.hashSeed()
                && one.shardCount() == other.shardCount();
    }

    /** Asks one server; whether it answered. */
    private boolean askRouting(ServerLink link, long deadlineNs) {
        return ask(link, deadlineNs, new ControlRequest() {
            @Override
            public void write(FrameEncoder out, long number) {
                BytesFrame.write(out, ClientFrameDescriptor.ROUTING_WANTED, number);
            }

            @Override
            public void read(ByteBuffer buffer, int at, int length) throws WireException {
                // The connection has handed it on.
                requireType(buffer, at, ClientFrameDescriptor.ROUTING);
            }
        });
    }

    static void requireType(ByteBuffer buffer, int at, int type) throws WireException {
        if (FrameHeadDescriptor.type(buffer, at) != type) {
            throw new WireException(
                    WireFault.BAD_FRAME, "type " + FrameHeadDescriptor.type(buffer, at) + " instead of " + type);
        }
    }

    /** Asks a server something; whether it answered. */
    boolean ask(ServerLink link, long deadlineNs, ControlRequest question) {
        final NetConnection connection = link.connection(deadlineNs);
        return connection != null && ask(connection, deadlineNs, question);
    }

    static boolean ask(NetConnection connection, long deadlineNs, ControlRequest question) {
        final InFlightRequest exchange = connection.borrow(deadlineNs);
        if (exchange == null) {
            return false;
        }
        exchange.prepare(question);
        connection.enqueue(exchange);
        connection.flush();
        return connection.await(exchange, deadlineNs) == InFlightRequest.Outcome.ANSWERED;
    }

    /** Asks all servers at the same time: one that does not answer delays no other. Callers share what is under way. */
    @Override
    public boolean seek(long knownTerm) {
        final Route now = route();
        final boolean isNewer = now.term() > knownTerm;
        if (!isNewer && !closed) {
            for (ServerLink link : now.links()) {
                link.inquireSoon(this::askRouting);
            }
        }
        return isNewer;
    }

    /** A configuration is not the newest, or the primary that it names is away: asks for a newer one. */
    void refresh(long knownTerm, long deadlineNs) {
        for (ServerLink link : route().links()) {
            if (route().term() > knownTerm || closed) {
                return;
            }
            final long nowNs = clock.nanoTime();
            askRouting(link, nowNs + Math.min(deadlineNs - nowNs, settings.connectNs()));
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

    /** When an attempt ends that begins now. */
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

    /** OK where it can be sent. */
    private Status whyNotSent(Request request, Route now, long nowNs, long untilNs) {
        if (closed) {
            return Status.CLOSED;
        }
        if (!now.hasShard(request.shard())) {
            return Status.BAD_REQUEST;
        }
        return untilNs - nowNs > 0 ? Status.OK : Status.UNREACHABLE;
    }

    // --- scans ---

    @Override
    public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
        requireOpen();
        final Route now = route();
        final PageRequest question = new PageRequest(now.term(), cacheId, shard, position, limit, withValues);
        final boolean answered = ask(now.primaryOf(shard), clock.nanoTime() + attemptNs, question);
        final Status status = answered ? question.status() : Status.UNREACHABLE;
        if (status != Status.OK) {
            throw new RowanException(status, "the scan of shard " + shard + " cannot go on: " + status);
        }
        return question.page();
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

    /** Connections made since the beginning, to all servers there are now. */
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
