package org.rowankv.rdma.landing;

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
 * <p>Only the NIC agent's thread lands, and only complete messages in this process's memory: a landing is a copy that
 * no peer can delay. It runs under this object's monitor, as do fences. That alone makes fences effective: a fence
 * returns after the landing in progress, and every later one finds the sender fenced. The tail is raised <i>after</i>
 * the entry was published, so there are no reservations and no holes to void; a failed landing leaves its slot to the
 * next.
 *
 * <p>Memory-order protocol: the entry, then its publication word with release, then the tail in the volatile word. A
 * posting is stored before {@code posted} is raised. A volatile field names the accessed segment before its first byte
 * is written, and is cleared after the last.
 *
 * <p>Reading methods are for any thread; {@link #post} is for the control agent.
 */
final class LandedQueue implements ReceiveQueue {
    /** Result of a landing. */
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

    /** Guarded by this: whether a connection was notified that no segment is posted, and waits for a post. */
    private boolean awaited;

    /** @param onPosted called by the posting thread if a connection waits for it */
    LandedQueue(EndpointSettings settings, Runnable onPosted) {
        this.settings = settings;
        this.segmentStrides = settings.segmentLength() / FrameDescriptor.STRIDE;
        // More than segments: an ordinal stays valid until its segment is posted again.
        final int capacity = Integer.highestOneBit(settings.segmentCount()) * 2;
        this.postings = new AtomicLongArray(capacity);
        this.limits = new AtomicIntegerArray(capacity);
        this.mask = capacity - 1;
        this.onPosted = onPosted;
    }

    /** Adds a sender if the check, under the same monitor as fences, passes; it throws if not. */
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

    /** Fences all senders and posts no more. */
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
            // The segment being landed in does not count.
            if (closed || posted - currentOrdinal() - 1 >= settings.maxPosted()) {
                return false;
            }
            final long base = settings.segmentAddress(segment);
            assert !GenerationSource.occurs(
                            settings.region().buffer(base),
                            settings.region().offset(base),
                            settings.segmentLength(),
                            generation)
                    : "generation " + generation + " occurs in the old bytes of segment " + segment;
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
     * @param body the entry after its frame
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

    /** Completes a batch of a sender's arrivals. On the NIC loop, without the monitor. */
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
                // The segment may close before another landing; it ends where no word of its use follows.
                FrameDescriptor.wordRelease(buffer, at, 0);
            }
            touched = NOTHING;
        }
    }

    private long address(long ordinal, int place) {
        return settings.segmentAddress(segmentAt(ordinal)) + (long) place * FrameDescriptor.STRIDE;
    }

    /** Whether a posted segment accepts such a sender; if not, the next post notifies it. */
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

    /** There are no holes: incomplete messages take no space. */
    @Override
    public FenceReport fenceHole(int segment, int offset) {
        return fence(connection -> false);
    }

    /** Fences the selected senders. */
    FenceReport fence(Predicate<LandingConnection> selected) {
        final Set<Integer> servers = new LinkedHashSet<>();
        final List<LandingConnection> fenced = new ArrayList<>();
        synchronized (this) {
            for (final LandingConnection connection : connections) {
                if (!connection.isCutOff() && selected.test(connection)) {
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
