package org.rowankv.rdma.leased;

import io.netty.channel.EventLoop;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.channel.OneSidedChannel;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.rowan.FrameSealer;
import org.rowankv.rdma.verbs.VerbsException;
import org.rowankv.rdma.verbs.WorkStatus;
import org.rowankv.runtime.Chaos;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All WRITEs of this server to another one. An entry gets its place, is sealed and joins a batch under one lock, so the
 * order of places is that of posting, and of arrival: there are no holes.
 *
 * <p>Batches are filled by workers, posted by the NIC agent in that order, and done when their READ completes. While all but
 * one are in flight, entries collect in the last. Allocates nothing per entry but the event loop's task per batch.
 *
 * <p>Guarded by its own monitor; {@link #completed} and {@link #isEnded} need none.
 */
final class WriteStream implements OneSidedChannel.CompletionListener {
    private static final Logger LOG = LoggerFactory.getLogger(WriteStream.class);
    static final int BATCHES = 8;

    private final long number;
    private final int segmentStrides;
    private final EventLoop nic;
    private final OneSidedChannel channel;
    private final StagingMemory staging;
    private final WriteBatch[] batches = new WriteBatch[BATCHES];
    private final FrameSealer sealer = new FrameSealer();
    private final ArrayDeque<SegmentLease> leases = new ArrayDeque<>();
    private final Runnable onBegun;
    private final Runnable posting = this::postAll;
    private @Nullable LeaseReader reader;
    private long wordAddress;
    private int wordKey;
    /** Strides written in the first lease. */
    private int tail;
    /** Leases before the first. */
    private long filled;

    /** Leases since the beginning: those it needs, and those that the NIC agent requests. */
    private long needed = LeaseGranter.FIRST;

    private long requested = LeaseGranter.FIRST;
    /** Bytes staged since the beginning, and those whose batches are done. */
    private long staged;

    private long freed;
    private long sequence;
    /** Batches since the beginning: {@code done ≤ posted ≤ closed ≤ done + BATCHES}. */
    private long closed;

    private long posted;
    private long done;
    private boolean rung;
    private boolean scheduled;
    private boolean begun;
    private volatile long completed;
    private volatile boolean ended;

    /**
     * On the NIC agent's event loop.
     *
     * @param number of its connection
     * @param onBegun called once, when it may write
     */
    WriteStream(
            long number,
            int segmentLength,
            EventLoop nic,
            OneSidedChannel channel,
            StagingMemory staging,
            Runnable onBegun)
            throws VerbsException {
        this.number = number;
        this.segmentStrides = segmentLength / FrameDescriptor.STRIDE;
        this.nic = nic;
        this.channel = channel;
        this.staging = staging;
        this.onBegun = onBegun;
        for (int i = 0; i < BATCHES; i++) {
            batches[i] = new WriteBatch(staging, channel, i);
        }
        channel.onOneSided(this);
    }

    /** Takes part in one append, under the stream's lock. */
    interface Appended {
        /**
         * @param sequence of the entry in the stream
         * @param position behind it, in the lane
         */
        void onAppended(long sequence, long position);
    }

    /** Requests go there. */
    synchronized void reader(LeaseReader opened) {
        reader = opened;
    }

    synchronized void onLease(SegmentLease lease) {
        leases.add(lease);
    }

    /** The first leases are there. */
    void begin(long address, int key) {
        synchronized (this) {
            wordAddress = address;
            wordKey = key;
            begun = true;
        }
        onBegun.run();
    }

    /** Of its connection. */
    long number() {
        return number;
    }

    /** The entry of that sequence, and all before it, have landed. */
    long completed() {
        return completed;
    }

    boolean isEnded() {
        return ended;
    }

    /**
     * Adds an entry.
     *
     * @param usesReserve whether it may be in the last lease
     * @return POSTED, RECEIVER_NOT_READY, QUEUE_FULL or FENCED
     */
    synchronized int append(
            ByteBuffer source, int offset, int length, int type, int tag, boolean usesReserve, Appended appended) {
        if (ended || !begun) {
            return PostStatus.FENCED;
        }
        final int strides = FrameDescriptor.stridesOf(length);
        final int bytes = strides * FrameDescriptor.STRIDE;
        if (!hasLease(strides, usesReserve)) {
            request();
            return PostStatus.RECEIVER_NOT_READY;
        }
        final SegmentLease lease = leases.element();
        final long remoteAddress = lease.remoteAddress() + (long) tail * FrameDescriptor.STRIDE;
        final int start = (int) (staged % staging.ringLength());
        final int skipped = start + bytes > staging.ringLength() ? staging.ringLength() - start : 0;
        final int at = skipped > 0 ? 0 : start;
        final WriteBatch batch = batchFor(at, remoteAddress);
        if (batch == null || staged + skipped + bytes - freed > staging.ringLength()) {
            ring();
            return PostStatus.QUEUE_FULL;
        }
        seal(source, offset, length, type, tag, lease, at);
        staged += skipped + bytes;
        tail += strides;
        sequence++;
        final long position = LanePosition.of(lease.ordinal(), tail);
        batch.add(at, bytes, remoteAddress, lease.remoteKey(), sequence, position, staged);
        appended.onAppended(sequence, position);
        request();
        return PostStatus.POSTED;
    }

    /** Moves on to the next lease if the entry has no room in the first. */
    private boolean hasLease(int strides, boolean usesReserve) {
        final int spared = usesReserve ? 0 : 1;
        if (leases.isEmpty()) {
            return false;
        }
        if (tail + strides <= segmentStrides) {
            return leases.size() > spared;
        }
        needed = Math.max(needed, filled + LeaseGranter.MOST);
        if (leases.size() - 1 <= spared) {
            return false;
        }
        leases.remove();
        Chaos.point("leased.filled");
        filled++;
        tail = 0;
        return true;
    }

    /** Requests leases: the next, and in the last quarter of the first the one behind it. */
    private void request() {
        final boolean isLate = tail >= segmentStrides - segmentStrides / 4;
        needed = Math.max(needed, filled + (isLate ? LeaseGranter.MOST : LeaseGranter.FIRST));
        if (needed > requested) {
            requested = needed;
            schedule();
        }
    }

    /** The batch that takes an entry there; null if all are in flight. */
    private @Nullable WriteBatch batchFor(int at, long remoteAddress) {
        if (closed - done < BATCHES && !filling().takes(at, remoteAddress)) {
            close();
        }
        return closed - done < BATCHES ? filling() : null;
    }

    private WriteBatch filling() {
        return batches[(int) (closed % BATCHES)];
    }

    private void close() {
        closed++;
        schedule();
    }

    private void seal(ByteBuffer source, int offset, int length, int type, int tag, SegmentLease lease, int at) {
        final ByteBuffer memory = staging.memory();
        final int header = FrameDescriptor.HEADER_LENGTH;
        memory.put(at + header, source, offset + header, length - header);
        final long address = lease.address() + (long) tail * FrameDescriptor.STRIDE;
        final int bodyCrc = FrameDescriptor.bodyCrc(source, offset);
        sealer.publishOwned(memory, at, address, lease.generation(), length, type, bodyCrc, tag, 0);
    }

    /** Posts what was added, unless all other batches are in flight: then once one of them is done. */
    synchronized void ring() {
        rung = true;
        if (!ended && closed - done < BATCHES - 1 && !filling().isEmpty()) {
            close();
        }
        if (closed - done < BATCHES && filling().isEmpty()) {
            rung = false;
        }
    }

    private void schedule() {
        if (!scheduled) {
            scheduled = true;
            try {
                nic.execute(posting);
            } catch (RejectedExecutionException e) {
                ended = true; // with the device
            }
        }
    }

    private void postAll() {
        final LeaseReader requesting;
        final long inAll;
        VerbsException failure = null;
        synchronized (this) {
            scheduled = false;
            try {
                while (posted < closed && !ended) {
                    batches[(int) (posted % BATCHES)].post(wordAddress, wordKey);
                    posted++;
                }
            } catch (VerbsException e) {
                failure = e;
            }
            requesting = reader;
            inAll = requested;
        }
        if (failure != null) {
            fail(failure);
        } else if (requesting != null) {
            requesting.request(inAll);
        }
    }

    private void fail(VerbsException e) {
        LOG.debug("WRITEs ended", e);
        end();
        channel.abort();
    }

    @Override
    public void onOneSided(int postingNumber, int status) {
        if (status != WorkStatus.SUCCESS) {
            fail(new VerbsException("WRITEs failed: " + WorkStatus.text(status)));
            return;
        }
        synchronized (this) {
            final WriteBatch batch = batches[(int) (done % BATCHES)];
            assert WriteBatch.indexOf(postingNumber) == done % BATCHES : "a completion out of order";
            done++;
            freed = batch.stagedUpTo();
            batch.clear();
            completed = batch.lastSequence();
            if (rung) {
                ring();
            }
        }
    }

    /** Nothing more is staged or posted from now on, and what is in flight has no outcome here. */
    synchronized void end() {
        ended = true;
    }

    /** Its staging is free on return: no worker fills it, and the device reads none of it. On the event loop. */
    StagingMemory release() {
        end();
        channel.abort();
        return staging;
    }

    /** Ends it, and its connection. Any thread. */
    void abort() {
        end();
        try {
            nic.execute(channel::abort);
        } catch (RejectedExecutionException e) {
            LOG.debug("The device is closed", e);
        }
    }
}
