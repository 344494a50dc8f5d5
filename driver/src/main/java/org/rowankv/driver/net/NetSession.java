package org.rowankv.driver.net;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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
import org.rowankv.protocol.wire.BytesFrame;
import org.rowankv.protocol.wire.FrameDescriptor;
import org.rowankv.protocol.wire.FrameWriter;
import org.rowankv.protocol.wire.ProtocolException;
import org.rowankv.protocol.wire.ProtocolFault;
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
 * <p>An attempt that was not applied for certain, because it was not sent, or because it met a server that is not the shard's
 * primary, goes to whoever is by a newer configuration, until the attempt's time is over. One that may have been applied is
 * answered NO_REPLY.
 */
public final class NetSession implements Session {
    /** As deep as a caller that writes, reads and lets others do so. It shares what it uses with others: better not begun. */
    private static final int PROBE_DEPTH = 48;

    private static final Logger LOG = LoggerFactory.getLogger(NetSession.class);
    private static final long FIRST_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long MAX_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);

    /** An attempt is not begun again with less than this part of its time. */
    private static final int LEAST_SHARE = 4;

    /** Without an answer on a connection for change streams: of the thread that polls, and of those that want it to look. */
    private static final int STREAM_QUESTIONS = 64;

    private final NetSettings settings;
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
        return ask(link, deadlineNs, new Question() {
            @Override
            public void write(FrameWriter out, long number) {
                BytesFrame.write(out, FrameDescriptor.ROUTING_WANTED, number);
            }

            @Override
            public void read(ByteBuffer buffer, int at, int length) throws ProtocolException {
                // The connection has handed it on.
                requireType(buffer, at, FrameDescriptor.ROUTING);
            }
        });
    }

    static void requireType(ByteBuffer buffer, int at, int type) throws ProtocolException {
        if (FrameDescriptor.type(buffer, at) != type) {
            throw new ProtocolException(
                    ProtocolFault.BAD_FRAME, "type " + FrameDescriptor.type(buffer, at) + " instead of " + type);
        }
    }

    /** Asks a server something; whether it answered. */
    boolean ask(ServerLink link, long deadlineNs, Question question) {
        final NetConnection connection = link.connection(deadlineNs);
        return connection != null && ask(connection, deadlineNs, question);
    }

    static boolean ask(NetConnection connection, long deadlineNs, Question question) {
        final Exchange exchange = connection.borrow(deadlineNs);
        if (exchange == null) {
            return false;
        }
        exchange.prepare(question);
        connection.enqueue(exchange);
        connection.flush();
        return connection.await(exchange, deadlineNs) == Exchange.Outcome.ANSWERED;
    }

    /**
     * As {@link #refresh}, without waiting for an answer, and of all servers at the same time: one that does not answer delays no
     * other. Callers share what is under way.
     */
    void seek(long knownTerm) {
        if (route().term() <= knownTerm && !closed) {
            for (ServerLink link : route().links()) {
                link.inquireSoon(this::askRouting);
            }
        }
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
    public boolean mayLoseReplies() {
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
        call(request, nowNs, nowNs + settings.attemptNs());
    }

    /** When an attempt ends that begins now. */
    private long endOf(long nowNs, long deadlineNs) {
        final long leftNs = deadlineNs - nowNs;
        return leftNs < settings.attemptNs() ? deadlineNs : nowNs + settings.attemptNs();
    }

    /**
     * Whether so little of an attempt's time is left that the reply to another try may not come in it: what is known would not be
     * known any more.
     */
    static boolean isTooLate(long nowNs, long beginNs, long deadlineNs) {
        return deadlineNs - nowNs < Math.max(1, (deadlineNs - beginNs) / LEAST_SHARE);
    }

    @Override
    public void call(Request request, long beginNs, long untilNs) {
        StackProbe.require(PROBE_DEPTH);
        final long deadlineNs = endOf(beginNs, untilNs);
        if (deadlineNs - beginNs <= 0) {
            request.fail(Status.UNREACHABLE);
            return;
        }
        long pauseNs = 0;
        long triedNs = beginNs;
        while (true) {
            final Route now = route();
            final Status refused = whyNotSent(request, now);
            if (refused != Status.OK) {
                request.fail(refused);
                return;
            }
            final Status status = BlockingCall.attempt(request, now, triedNs, deadlineNs, settings.attemptNs());
            if (!isForAnother(status)) {
                return;
            }
            if (isTooLate(clock.nanoTime(), beginNs, deadlineNs)) {
                seek(now.term()); // for the calls to come, which may have as little time
                request.fail(closed ? Status.CLOSED : status);
                return;
            }
            pauseNs = pause(now, pauseNs);
            triedNs = clock.nanoTime(); // a server that it turns to now was not asked before
        }
    }

    @Override
    public void callAll(List<Request> requests) {
        callAll(requests, clock.nanoTime() + settings.attemptNs());
    }

    @Override
    public void callAll(List<Request> requests, long untilNs) {
        StackProbe.require(PROBE_DEPTH);
        final long nowNs = clock.nanoTime();
        CallBatch.callAll(this, requests, nowNs, endOf(nowNs, untilNs));
    }

    @Override
    public void callAsync(Request request, Runnable whenAnswered) {
        callAsync(request, clock.nanoTime() + settings.attemptNs(), whenAnswered);
    }

    @Override
    public void callAsync(Request request, long untilNs, Runnable whenAnswered) {
        StackProbe.require(PROBE_DEPTH);
        final long nowNs = clock.nanoTime();
        if (untilNs - nowNs <= 0) {
            request.fail(Status.UNREACHABLE);
            whenAnswered.run();
        } else {
            new AsyncAttempt(this, request, nowNs, endOf(nowNs, untilNs), whenAnswered).step();
        }
    }

    StepTimer timer() {
        return timer;
    }

    boolean isClosed() {
        return closed;
    }

    /** Whether nothing was applied, and another server, or the same one later, may do it. */
    static boolean isForAnother(Status status) {
        return status == Status.STALE_TERM
                || status == Status.NOT_PRIMARY
                || status == Status.UNREACHABLE
                || status == Status.NO_VERSION;
    }

    /** OK where it can be sent. */
    Status whyNotSent(Request request, Route now) {
        if (closed) {
            return Status.CLOSED;
        }
        return now.hasShard(request.shard()) ? Status.OK : Status.BAD_REQUEST;
    }

    /** Before the next try: looks for a newer configuration, and waits a while if there is none. */
    long pause(Route tried, long lastPauseNs) {
        seek(tried.term());
        if (route().term() > tried.term()) {
            return 0;
        }
        final long pauseNs = Math.min(MAX_PAUSE_NS, Math.max(FIRST_PAUSE_NS, 2 * lastPauseNs));
        final boolean interrupted = Thread.interrupted();
        LockSupport.parkNanos(this, pauseNs);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return pauseNs;
    }

    // --- scans ---

    @Override
    public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
        final long deadlineNs = clock.nanoTime() + settings.attemptNs();
        long from = position;
        long pauseNs = 0;
        while (true) {
            final Route now = route();
            requireOpen();
            final PageQuestion question = new PageQuestion(now, cacheId, shard, from, limit, withValues);
            final boolean answered = ask(now.primaryOf(shard), deadlineNs, question);
            final Status status = answered ? question.status() : Status.UNREACHABLE;
            if (status == Status.OK) {
                final ScanPage page = question.page(this::valueOf);
                if (!page.entries().isEmpty() || page.last()) {
                    return page;
                }
                from = page.nextPosition(); // nothing on that part of the way
            } else if (status == Status.CLOSED || clock.nanoTime() - deadlineNs >= 0) {
                throw new RowanException(status, "the scan of shard " + shard + " cannot go on: " + status);
            } else {
                pauseNs = pause(now, pauseNs);
            }
        }
    }

    /**
     * Reads the value of a scanned object that was too long for its page, and repeats a read without a reply.
     *
     * @return null if the object is gone by now
     * @throws RowanException if the read ends in any other way: the object may be live, so the scan must not leave it out
     */
    private byte @Nullable [] valueOf(Request get) {
        final long untilNs = clock.nanoTime() + settings.attemptNs();
        call(get);
        long nowNs = clock.nanoTime();
        // Ends: each repetition begins before the deadline.
        while (get.status() == Status.NO_REPLY && untilNs - nowNs > 0) {
            Thread.yield();
            call(get, nowNs, untilNs);
            nowNs = clock.nanoTime();
        }
        return switch (get.status()) {
            case OK -> get.resultBytes();
            case NOT_FOUND -> null;
            default ->
                throw new RowanException(
                        get.status(),
                        "the scan of shard " + get.shard() + " cannot go on: the read of a value ended "
                                + get.status());
        };
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
