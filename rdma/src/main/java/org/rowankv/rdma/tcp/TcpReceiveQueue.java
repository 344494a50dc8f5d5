package org.rowankv.rdma.tcp;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Predicate;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.rowan.FrameSealer;
import org.rowankv.rdma.rowan.GenerationSource;
import org.rowankv.runtime.Chaos;

/**
 * The posted segments of one endpoint, and the landing in them.
 *
 * <p>One thread lands, the NIC agent's, and only whole messages that lie in this process's memory: a landing is a copy and
 * cannot be held up by a peer. It happens under this object's monitor, and so do fences. That alone makes a fence hold:
 * it returns after the landing that was going on, and every later one finds the sender fenced. Space is taken by raising
 * the tail <i>after</i> the entry was published, so there are no reservations, no holes and nothing to void; a landing
 * that breaks off leaves its place to the next.
 *
 * <p>Memory-order protocol: the entry, then its publication word with release, then the tail in the volatile word. A
 * posting is stored before {@code posted} is raised. The segment being touched is named in a volatile field before its
 * first byte is written, and cleared after the last.
 *
 * <p>The reading methods are for any thread; {@link #post} is for the control agent.
 */
final class TcpReceiveQueue implements ReceiveQueue {
    /** What a landing came to. */
    static final int LANDED = 0;

    static final int NOT_READY = 1;
    static final int CUT_OFF = 2;

    private static final int TAIL_BITS = 20;
    private static final long TAIL_MASK = (1L << TAIL_BITS) - 1;
    private static final int NOTHING = -1;

    private final EndpointSettings settings;
    private final int segmentStrides;
    private final FrameSealer sealer = new FrameSealer();
    private final AtomicLongArray postings;
    private final AtomicIntegerArray limits;
    private final int mask;
    private final Runnable onPosted;
    private volatile Runnable onLanded = () -> {};
    /** Guarded by this. */
    private final List<LandingConnection> connections = new ArrayList<>();
    /** Ordinal, then tail in strides; written under the monitor. */
    private volatile long word;

    private volatile long posted;
    private volatile int touched = NOTHING;
    /** Guarded by this. */
    private boolean closed;

    /** Guarded by this: somebody was told that no segment is posted, and waits to hear otherwise. */
    private boolean awaited;

    /** @param onPosted called by the thread that posts, when somebody waits for it */
    TcpReceiveQueue(EndpointSettings settings, Runnable onPosted) {
        this.settings = settings;
        this.segmentStrides = settings.segmentLength() / FrameDescriptor.STRIDE;
        // More than there are segments: an ordinal is asked about until its segment is posted again.
        final int capacity = Integer.highestOneBit(settings.segmentCount()) * 2;
        this.postings = new AtomicLongArray(capacity);
        this.limits = new AtomicIntegerArray(capacity);
        this.mask = capacity - 1;
        this.onPosted = onPosted;
    }

    /** Adds a sender if the check, made under the same monitor as fences, passes; it throws if not. */
    synchronized void admit(LandingConnection connection, Runnable check) {
        check.run();
        connections.add(connection);
    }

    synchronized void forget(LandingConnection connection) {
        connection.cutOff();
        connections.remove(connection);
    }

    synchronized List<LandingConnection> connections() {
        return List.copyOf(connections);
    }

    /** Fences everyone and posts no more. */
    void close() {
        synchronized (this) {
            closed = true;
        }
        fenceAll();
    }

    @Override
    public boolean post(int segment, int generation) {
        if (generation == 0 || segment < 0 || segment >= settings.segmentCount()) {
            throw new IllegalArgumentException("segment " + segment + ", generation " + generation);
        }
        final boolean tell;
        synchronized (this) {
            // The one being landed in does not count.
            if (closed || posted - currentOrdinal() - 1 >= settings.maxPosted()) {
                return false;
            }
            final long base = settings.segmentAddress(segment);
            assert !GenerationSource.occurs(
                            settings.region().buffer(base),
                            settings.region().offset(base),
                            settings.segmentLength(),
                            generation)
                    : "generation " + generation + " stands in the old bytes of segment " + segment;
            postings.set((int) posted & mask, (long) segment << Integer.SIZE | (generation & 0xFFFF_FFFFL));
            posted = posted + 1;
            tell = awaited;
            awaited = false;
        }
        if (tell) {
            onPosted.run();
        }
        return true;
    }

    /**
     * Lands one message, if its sender may and a segment is posted for it.
     *
     * @param body the entry behind its frame
     * @return LANDED, NOT_READY or CUT_OFF
     */
    synchronized int land(
            LandingConnection sender, ByteBuffer body, int bodyOffset, int bodyLength, int type, int bodyCrc, int tag) {
        if (sender.isCutOff()) {
            return CUT_OFF;
        }
        final int length = FrameDescriptor.HEADER_LENGTH + bodyLength;
        final int strides = FrameDescriptor.stridesOf(length);
        long ordinal = currentOrdinal();
        int place = (int) (word & TAIL_MASK);
        if (!isReady(sender.sparesLast(), ordinal)) {
            awaited = true;
            return NOT_READY;
        }
        if (place + strides > segmentStrides) {
            if (!isReady(sender.sparesLast(), ordinal + 1)) {
                awaited = true;
                return NOT_READY;
            }
            limits.set((int) ordinal & mask, place * FrameDescriptor.STRIDE);
            ordinal++;
            place = 0;
        }
        copy(ordinal, place, length, body, bodyOffset, type, bodyCrc, tag);
        word = ordinal << TAIL_BITS | (place + strides);
        sender.landed(address(ordinal, place), (long) strides * FrameDescriptor.STRIDE);
        return LANDED;
    }

    void onLanded(Runnable handler) {
        onLanded = handler;
    }

    /** What has arrived of a sender was done. On the NIC loop, and not under the monitor. */
    void landed() {
        onLanded.run();
    }

    private void copy(
            long ordinal, int place, int length, ByteBuffer body, int bodyOffset, int type, int bodyCrc, int tag) {
        final long posting = postings.get((int) ordinal & mask);
        final int segment = (int) (posting >>> Integer.SIZE);
        final long address = address(ordinal, place);
        final ByteBuffer buffer = settings.region().buffer(address);
        final int at = settings.region().offset(address);
        final int header = FrameDescriptor.HEADER_LENGTH;
        boolean complete = false;
        touched = segment;
        try {
            Chaos.point("tcp.named");
            final int half = Chaos.ENABLED ? (length - header) / 2 : 0;
            buffer.put(at + header, body, bodyOffset, half);
            Chaos.point("tcp.mid-copy");
            buffer.put(at + header + half, body, bodyOffset + half, length - header - half);
            Chaos.point("tcp.before-publish");
            sealer.publishOwned(buffer, at, address, (int) posting, length, type, bodyCrc, tag, 0);
            Chaos.point("tcp.published");
            complete = true;
        } finally {
            if (!complete) {
                // The segment may be closed before anything else lands here, and ends where no word of its use stands.
                FrameDescriptor.wordRelease(buffer, at, 0);
            }
            touched = NOTHING;
        }
    }

    private long address(long ordinal, int place) {
        return settings.segmentAddress(segmentAt(ordinal)) + (long) place * FrameDescriptor.STRIDE;
    }

    /** Whether a segment is posted that such a sender may land in; if not, it will be told of the next post. */
    synchronized boolean isReady(boolean sparesLast) {
        final boolean ready = isReady(sparesLast, currentOrdinal());
        awaited |= !ready;
        return ready;
    }

    private boolean isReady(boolean sparesLast, long ordinal) {
        return posted > (sparesLast ? ordinal + 1 : ordinal);
    }

    @Override
    public long postedCount() {
        return posted;
    }

    @Override
    public long currentOrdinal() {
        return word >>> TAIL_BITS;
    }

    @Override
    public int segmentAt(long ordinal) {
        return (int) (postings.get(slot(ordinal)) >>> Integer.SIZE);
    }

    @Override
    public int generationAt(long ordinal) {
        return (int) postings.get(slot(ordinal));
    }

    private int slot(long ordinal) {
        final long count = posted;
        if (ordinal < 0 || ordinal >= count || ordinal < count - postings.length()) {
            throw new IllegalArgumentException(
                    "ordinal " + ordinal + " of " + count + " is not posted yet, or later ones have taken its slot");
        }
        return (int) ordinal & mask;
    }

    @Override
    public boolean isClosed(long ordinal) {
        return currentOrdinal() > ordinal;
    }

    @Override
    public int landedLimit(long ordinal) {
        final long found = word;
        final long current = found >>> TAIL_BITS;
        if (ordinal == current) {
            return (int) (found & TAIL_MASK) * FrameDescriptor.STRIDE;
        }
        return ordinal > current ? 0 : limits.get(slot(ordinal));
    }

    @Override
    public FenceReport fence(int serverId) {
        return fence(connection -> connection.senderId() == serverId);
    }

    @Override
    public FenceReport fenceAll() {
        return fence(connection -> true);
    }

    /** There are no holes: what is not there whole takes no space. */
    @Override
    public FenceReport fenceHole(int segment, int offset) {
        return fence(connection -> false);
    }

    /** Cuts off whom it shall. */
    FenceReport fence(Predicate<LandingConnection> whom) {
        final Set<Integer> servers = new LinkedHashSet<>();
        final List<LandingConnection> fenced = new ArrayList<>();
        synchronized (this) {
            for (final LandingConnection connection : connections) {
                if (!connection.isCutOff() && whom.test(connection)) {
                    connection.cutOff();
                    fenced.add(connection);
                    servers.add(connection.senderId());
                }
            }
            connections.removeAll(fenced);
        }
        fenced.forEach(LandingConnection::sendFenced);
        return new FenceReport(List.copyOf(servers), fenced.size(), List.of(), 0);
    }

    @Override
    public boolean isNamed(int segment) {
        return touched == segment;
    }
}
