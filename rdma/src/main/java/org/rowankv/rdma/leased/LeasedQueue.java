package org.rowankv.rdma.leased;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.LandingLane;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.channel.VerbsTransport;
import org.rowankv.rdma.landing.LandingEndpoint;
import org.rowankv.rdma.landing.SegmentLeases;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.rdma.landing.wire.RefusalStatus;
import org.rowankv.rdma.verbs.ExposedMemory;
import org.rowankv.rdma.verbs.VerbsException;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;

/**
 * The posted segments of one endpoint, which wait to be leased, and the lanes of their senders.
 *
 * <p>A fence, in this order: destroys the sender's queue pair, after which nothing of it lands; wipes what it wrote behind
 * its position; ends its other queue pairs with that position. Every end of a sender's connection is such a fence. A segment is leased again only after that.
 *
 * <p>Connections, grants and fences are the NIC agent's: a fence from another thread waits for it, and it for nothing.
 * Reading methods are for any thread; {@link #post} is for the control agent.
 */
final class LeasedQueue implements ReceiveQueue, SegmentLeases {
    private static final long LOOK_EVERY_MS = 100;

    private final EndpointSettings settings;
    private final VerbsTransport transport;
    private final EventLoop nic;
    private final Clock clock;
    private final ExposedRegion region;
    /** Guarded by itself: segment, then generation. */
    private final ArrayDeque<Long> pool = new ArrayDeque<>();

    private final Map<Integer, LeasedLane> laneOf = new HashMap<>();
    private final Map<Integer, LeaseGranter> granters = new HashMap<>();
    private final Map<LeasedLane, ExposedMemory> words = new HashMap<>();
    private final List<FrameReader> watched = new CopyOnWriteArrayList<>();
    /** The first is for the first sender, and there before it. */
    private volatile LeasedLane[] lanes;

    private volatile @Nullable LandingEndpoint endpoint;
    private volatile boolean closed;

    LeasedQueue(EndpointSettings settings, VerbsTransport transport, EventLoop nic, Clock clock) {
        this.settings = settings;
        this.transport = transport;
        this.nic = nic;
        this.clock = clock;
        this.region = new ExposedRegion(settings, transport);
        this.lanes = new LeasedLane[] {new LeasedLane(settings)};
    }

    /**
     * Exposes the segments.
     *
     * @throws UncheckedIOException if the device refuses; the message says what to do
     */
    void expose() {
        onNic(() -> {
            try {
                region.exposeAll();
            } catch (VerbsException e) {
                throw new UncheckedIOException(e);
            }
            return 0;
        });
    }

    /** Its queue pairs are those of the same senders. */
    void bind(LandingEndpoint opened) {
        endpoint = opened;
    }

    private <T> T onNic(Supplier<T> task) {
        if (nic.inEventLoop()) {
            return task.get();
        }
        final Future<T> result;
        try {
            result = nic.submit(task::get);
        } catch (RejectedExecutionException e) {
            return task.get(); // the device is closed, and with it every queue pair
        }
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return result.get(LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
                } catch (TimeoutException e) {
                    if (nic.isTerminated()) {
                        return task.get();
                    }
                } catch (InterruptedException e) {
                    isInterrupted = true; // a fence is never half done
                }
            }
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // --- connections ---

    @Override
    public FrameReader accept(PeerHello hello, Channel channel) {
        final LandingEndpoint own = endpoint;
        if (own == null || closed) {
            throw RefusalStatus.refusal(Reason.UNKNOWN_PEER, settings.serverId(), "it is not open");
        }
        final int server = hello.from();
        final LeaseGranter present = granters.get(server);
        if (present != null) {
            if (present.isLaterThan(hello)) {
                throw RefusalStatus.refusal(
                        Reason.NOT_ADMITTED, settings.serverId(), "it has a later connection for leases");
            }
            final FenceReport unused = fenceNow(own, each -> each == server);
        }
        final LeasedLane lane = laneOf.computeIfAbsent(server, id -> newLane());
        final LeaseGranter granter = new LeaseGranter(this, lane, hello, channel, own.faults(), clock);
        lane.begin(hello.pair());
        granters.put(server, granter);
        watch(granter);
        return granter;
    }

    private LeasedLane newLane() {
        final LeasedLane[] present = lanes;
        if (laneOf.isEmpty()) {
            return present[0];
        }
        final LeasedLane[] next = Arrays.copyOf(present, present.length + 1);
        next[present.length] = new LeasedLane(settings);
        lanes = next;
        return next[present.length];
    }

    @Override
    public void welcomed(FrameReader reader) {
        final LeaseGranter granter = (LeaseGranter) reader;
        grant();
        try {
            ExposedMemory word = words.get(granter.lane());
            if (word == null) {
                word = transport.expose(granter.lane().word());
                words.put(granter.lane(), word);
            }
            granter.sendWord(word.address(), word.remoteKey());
        } catch (VerbsException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Grants what is requested, as far as there are segments, one to each sender in turn. On the event loop. */
    void grant() {
        boolean isAny;
        do {
            isAny = false;
            for (final LeaseGranter granter : granters.values()) {
                isAny |= granter.isOwed() && grant(granter);
            }
        } while (isAny);
    }

    private boolean grant(LeaseGranter granter) {
        final LeasedLane lane = granter.lane();
        if (!granter.isKept()) {
            final Long next;
            synchronized (pool) {
                next = pool.poll();
            }
            if (next == null) {
                return false;
            }
            lane.add((int) (next >>> Integer.SIZE), (int) (long) next);
        }
        final int segment = lane.segmentAt(granter.nextOrdinal());
        try {
            granter.grant(region.remoteAddress(segment), region.remoteKey(segment));
        } catch (VerbsException e) {
            throw new UncheckedIOException(e);
        }
        return true;
    }

    /** A sender's connection has ended, if not by a fence. On the event loop. */
    void ended(LeaseGranter granter) {
        unwatch(granter);
        final LandingEndpoint own = endpoint;
        if (own != null && granters.get(granter.serverId()) == granter) {
            final FenceReport unused = fenceNow(own, server -> server == granter.serverId());
        }
    }

    @Override
    public long endedConnection(int serverId) {
        final LeasedLane lane = laneOf.get(serverId);
        return lane == null || lane.isLive() ? 0 : lane.connection();
    }

    @Override
    public long endedAt(int serverId) {
        final LeasedLane lane = laneOf.get(serverId);
        return lane == null ? 0 : lane.endedAt();
    }

    /** From now on it is checked for silence. */
    void watch(FrameReader reader) {
        watched.add(reader);
    }

    void unwatch(FrameReader reader) {
        watched.remove(reader);
    }

    @Override
    public void tick(long nowNs, long heartbeatNs, long idleNs) {
        watched.forEach(each -> each.tick(nowNs, heartbeatNs, idleNs));
    }

    @Override
    public void close() {
        closed = true;
        final FenceReport unused = fenceAll();
    }

    // --- posting ---

    @Override
    public boolean post(int segment, int generation) {
        if (generation == 0 || segment < 0 || segment >= settings.segmentCount()) {
            throw new IllegalArgumentException("segment " + segment + ", generation " + generation);
        }
        synchronized (pool) {
            if (closed || pool.size() >= settings.maxPosted()) {
                return false;
            }
            pool.add((long) segment << Integer.SIZE | (generation & 0xFFFF_FFFFL));
        }
        try {
            nic.execute(this::grant);
        } catch (RejectedExecutionException e) {
            return true; // the fabric is closing
        }
        return true;
    }

    /** Those that no sender has. */
    @Override
    public long ahead() {
        synchronized (pool) {
            return pool.size();
        }
    }

    // --- lanes ---

    @Override
    public int lanes() {
        return lanes.length;
    }

    @Override
    public LandingLane lane(int number) {
        return lanes[number];
    }

    @Override
    public long postedCount() {
        return lanes[0].postedCount();
    }

    @Override
    public long currentOrdinal() {
        return lanes[0].currentOrdinal();
    }

    @Override
    public int segmentAt(long ordinal) {
        return lanes[0].segmentAt(ordinal);
    }

    @Override
    public int generationAt(long ordinal) {
        return lanes[0].generationAt(ordinal);
    }

    @Override
    public boolean isClosed(long ordinal) {
        return lanes[0].isClosed(ordinal);
    }

    @Override
    public int landedLimit(long ordinal) {
        return lanes[0].landedLimit(ordinal);
    }

    // --- fences ---

    @Override
    public FenceReport fence(int serverId) {
        return fence(server -> server == serverId);
    }

    @Override
    public FenceReport fenceAll() {
        return fence(server -> true);
    }

    /** There are no holes: a position that is not behind the progress word is no sender's. */
    @Override
    public FenceReport fenceHole(int segment, int offset) {
        return new FenceReport(List.of(), 0, List.of(), 0);
    }

    private FenceReport fence(IntPredicate selected) {
        final LandingEndpoint own = endpoint;
        return own == null ? new FenceReport(List.of(), 0, List.of(), 0) : onNic(() -> fenceNow(own, selected));
    }

    private FenceReport fenceNow(LandingEndpoint own, IntPredicate selected) {
        final List<Long> wiped = new ArrayList<>();
        for (final LeaseGranter granter : List.copyOf(granters.values())) {
            if (selected.test(granter.serverId())) {
                granters.remove(granter.serverId()); // first: its end is this fence
                granter.abort();
                wiped.addAll(granter.lane().end());
                Chaos.point("leased.fenced");
            }
        }
        final FenceReport pairs = own.fencePairs(selected);
        return new FenceReport(pairs.servers(), pairs.fencedPairs(), wiped, 0);
    }

    @Override
    public boolean isNamed(int segment) {
        for (final LeasedLane lane : lanes) {
            if (lane.names(segment)) {
                return true;
            }
        }
        return false;
    }
}
