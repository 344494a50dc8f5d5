package org.rowankv.driver.net;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.frame.BufferAccounting;
import org.rowankv.protocol.frame.FrameDecoder;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.FrameMemory;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.protocol.wire.BytesFrame;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor.ClientWelcome;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.protocol.wire.RequestDescriptor;
import org.rowankv.protocol.wire.ResponseDescriptor;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.Failures;
import org.rowankv.runtime.concurrent.FairSlotPool;
import org.rowankv.runtime.concurrent.Parker;
import org.rowankv.runtime.concurrent.SlotPool;
import org.rowankv.runtime.concurrent.VirtualThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connection to a server, driven by the threads that use it: the first writer sends all queued requests, and one
 * waiting caller reads for all ({@link LeaderFollowerReader}).
 *
 * <p>The channel never blocks, so an interrupt cannot close it: an interrupted caller continues to wait, and its
 * interrupt status is restored afterwards. A broken connection stays broken. Thread-safe.
 */
final class NetConnection implements FrameDecoder.Taker, LeaderFollowerReader.Reader {
    private static final Logger LOG = LoggerFactory.getLogger(NetConnection.class);
    private static final int READ_BUFFER_SIZE = 64 << 10;
    private static final int FIRST_OUTPUT = 16 << 10;
    /**
     * Limit of reads after a deadline, of {@link #READ_BUFFER_SIZE} bytes each, while a server keeps sending: 16 MiB.
     */
    private static final int MAX_LATE_READS = 256;
    /** Preallocated: after an error there may be no memory. */
    private static final IOException READER_ENDED = new IOException("the reader thread of the connection failed");

    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final ClientWelcome welcome;
    private final Clock clock;
    private final long spinNs;
    private final Consumer<byte[]> onRouting;

    /** One more than callers can hold: the last belongs to {@link #asyncReader} and is never sent. */
    private final InFlightRequest[] inFlightRequests;

    private final FairSlotPool slots;
    private final LeaderFollowerReader leaderFollower;
    private final AsyncReader asyncReader;

    // --- writing ---
    private final AtomicReference<@Nullable InFlightRequest> queue = new AtomicReference<>();
    private final AtomicBoolean writing = new AtomicBoolean();
    private final FrameEncoder out = new FrameEncoder(FIRST_OUTPUT);
    /** Bytes that the socket did not accept remain; the reader writes them. */
    private volatile boolean unwritten;
    /** Thread id of the last call; a hint, racy. */
    private volatile long lastCaller;

    // --- reading ---
    private final ByteBuffer readBuffer =
            ByteBuffer.allocateDirect(READ_BUFFER_SIZE).order(ByteOrder.LITTLE_ENDIAN);
    private final FrameDecoder in;

    private volatile long lastReadNs;
    private volatile long silentFromNs; // racy: any writer's value is right
    private volatile boolean broken;
    private final BooleanSupplier isBroken = () -> broken; // allocated once

    NetConnection(
            SocketChannel channel,
            Selector selector,
            SelectionKey key,
            ClientWelcome welcome,
            NetSettings settings,
            Clock clock,
            Consumer<byte[]> onRouting) {
        this.channel = channel;
        this.selector = selector;
        this.key = key;
        this.welcome = welcome;
        this.clock = clock;
        this.spinNs = settings.spinNs();
        this.onRouting = onRouting;
        this.in = new FrameDecoder(
                WirePort.CLIENTS, type -> settings.maxFrame(), FrameMemory.onHeap(BufferAccounting.UNCOUNTED));
        final int slotCount = Math.min(settings.maxInFlight(), welcome.maxInFlight());
        this.inFlightRequests = new InFlightRequest[slotCount + 1];
        for (int i = 0; i < inFlightRequests.length; i++) {
            inFlightRequests[i] = new InFlightRequest(i);
        }
        this.slots = new FairSlotPool(new SlotPool(slotCount), Parker.THREADS, clock);
        this.leaderFollower = new LeaderFollowerReader(inFlightRequests, Parker.THREADS, this, clock);
        this.asyncReader =
                new AsyncReader(leaderFollower, inFlightRequests[slotCount], clock, spinNs, () -> fail(READER_ENDED));
        this.lastReadNs = clock.nanoTime();
        this.silentFromNs = lastReadNs;
    }

    /** The longest frame that the server accepts. */
    int maxFrame() {
        return welcome.maxFrame();
    }

    boolean isBroken() {
        return broken;
    }

    /** Whether another thread made the previous call; called once per call. A hint, racy. */
    boolean isShared() {
        final long caller = Thread.currentThread().getId();
        if (lastCaller == caller) {
            return false;
        }
        lastCaller = caller;
        return true;
    }

    /** Acquires a slot; null if none is free. */
    @Nullable
    InFlightRequest tryAcquire() {
        final int slot = slots.tryAcquire();
        return slot < 0 ? null : inFlightRequests[slot];
    }

    /** Acquires a slot; null if none is free by the deadline, or the connection is broken. */
    @Nullable
    InFlightRequest acquire(long deadlineNs) {
        final int slot = slots.acquire(deadlineNs, isBroken);
        return slot < 0 ? null : inFlightRequests[slot];
    }

    /** Releases a slot that the caller holds. */
    void release(InFlightRequest inFlight) {
        inFlight.forget();
        inFlight.state(InFlightRequest.IDLE);
        slots.release(inFlight.slot());
    }

    /** Registers a call of an asynchronous caller, before it is queued. */
    void begin(AsyncCall call) {
        asyncReader.begin(call);
    }

    // --- writing ---

    /** Queues a prepared request; {@link #flush} sends it. */
    void enqueue(InFlightRequest inFlight) {
        inFlight.state(InFlightRequest.QUEUED);
        InFlightRequest head;
        do {
            head = queue.get();
            inFlight.next(head);
        } while (!queue.compareAndSet(head, inFlight));
    }

    /** Sends the queue, unless another thread is writing, which then sends it. */
    void flush() {
        while ((queue.get() != null || unwritten) && writing.compareAndSet(false, true)) {
            boolean stuck = false;
            try {
                writeQueued();
                stuck = unwritten;
            } catch (IOException | CancelledKeyException e) {
                fail(e);
            } catch (RuntimeException | Error e) {
                fail(e);
                throw e;
            } finally {
                writing.set(false);
            }
            if (stuck && !broken) {
                return;
            }
        }
        if (broken) {
            endAll();
        }
    }

    private void writeQueued() throws IOException {
        InFlightRequest each = InFlightRequest.oldestFirst(queue.getAndSet(null));
        while (each != null) {
            final InFlightRequest following = each.next();
            each.next(null);
            if (broken) {
                endUnsent(each);
            } else if (each.changes(InFlightRequest.QUEUED, InFlightRequest.WRITING)) {
                writeFrame(each);
            } else {
                dropCancelled(each);
            }
            each = following;
        }
        if (broken || out.pending() == 0) {
            return;
        }
        final boolean all = out.writeTo(channel);
        if (all && unwritten) {
            unwritten = false;
            key.interestOps(SelectionKey.OP_READ);
        } else if (!all && !unwritten) {
            unwritten = true;
            key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            selector.wakeup();
        }
    }

    private void writeFrame(InFlightRequest inFlight) {
        boolean written = false;
        try {
            write(inFlight);
            written = true;
        } finally {
            if (written) {
                inFlight.state(InFlightRequest.SENT);
            } else {
                ended(inFlight, InFlightRequest.Outcome.UNSENT);
            }
        }
    }

    private void write(InFlightRequest inFlight) {
        final Request request = inFlight.request();
        final ControlRequest controlRequest = inFlight.controlRequest();
        if (request != null) {
            RequestDescriptor.write(out, request, inFlight.number(), inFlight.term());
        } else if (controlRequest != null) {
            controlRequest.write(out, inFlight.number());
        }
    }

    private void dropCancelled(InFlightRequest inFlight) {
        if (inFlight.state() == InFlightRequest.CANCELLED) {
            release(inFlight);
        }
    }

    private void endUnsent(InFlightRequest inFlight) {
        if (inFlight.changes(InFlightRequest.QUEUED, InFlightRequest.WRITING)) {
            ended(inFlight, InFlightRequest.Outcome.UNSENT);
        } else {
            dropCancelled(inFlight);
        }
    }

    // --- waiting and reading ---

    /**
     * Waits for the response on the calling thread, which reads if the role is free. Afterwards no other thread touches
     * the request, and the slot is released.
     */
    InFlightRequest.Outcome await(InFlightRequest own, long deadlineNs) {
        boolean interrupted = false;
        InFlightRequest.Outcome outcome = null;
        try {
            interrupted = VirtualThreads.isCurrentVirtual() && deadlineNs - clock.nanoTime() > 0
                    ? awaitAsFollower(own, deadlineNs)
                    : leaderFollower.await(own, deadlineNs, spinNs);
            outcome = own.isDone() ? own.outcome() : giveUp(own);
        } finally {
            if (outcome == null) {
                abandon(own);
            }
        }
        if (own.isDone()) {
            release(own);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return outcome;
    }

    /** Waits on a virtual thread, which must not read: that would pin its carrier. */
    private boolean awaitAsFollower(InFlightRequest own, long deadlineNs) {
        asyncReader.retain();
        try {
            return leaderFollower.awaitAsFollower(own, deadlineNs);
        } finally {
            asyncReader.release();
        }
    }

    /**
     * Called by the caller of a request after an error: no other thread touches its request afterwards. Breaks the
     * connection, whose state is unknown after the error.
     */
    void abandon(InFlightRequest own) {
        broken = true;
        giveUp(own);
        fail(new IOException("an error of a caller left the connection in an unknown state"));
    }

    private InFlightRequest.Outcome giveUp(InFlightRequest own) {
        while (!own.isDone() && own.state() != InFlightRequest.IDLE) {
            if (own.changes(InFlightRequest.QUEUED, InFlightRequest.CANCELLED)) {
                return InFlightRequest.Outcome.UNSENT;
            }
            if (own.changes(InFlightRequest.SENT, InFlightRequest.ABANDONED)) {
                return InFlightRequest.Outcome.LOST;
            }
            Thread.yield(); // ends: another thread is between two states, and does not block there
        }
        return own.outcome();
    }

    @Override
    public boolean read(InFlightRequest own, long deadlineNs, boolean spins) {
        boolean interrupted = false;
        long nowNs = clock.nanoTime();
        long spinUntilNs = nowNs + spinNs;
        int lateReads = 0;
        try {
            while (!own.isDone() && !broken) {
                // After the deadline too: a response that has arrived counts, however late its caller starts to wait.
                final boolean any = readOnce();
                if (any) {
                    lastReadNs = nowNs;
                }
                if (own.isDone()) {
                    break;
                }
                nowNs = clock.nanoTime();
                if (nowNs - deadlineNs >= 0) {
                    if (!any || ++lateReads == MAX_LATE_READS) {
                        break;
                    }
                } else if (any || unwritten && flushUnwritten()) {
                    spinUntilNs = nowNs + spinNs;
                } else if (spins && nowNs - spinUntilNs < 0) {
                    Thread.yield();
                } else {
                    // An interrupted thread would not wait.
                    interrupted |= Thread.interrupted();
                    final long ns = deadlineNs - nowNs;
                    selector.select(ready -> {}, Math.max(1, TimeUnit.NANOSECONDS.toMillis(ns)));
                    nowNs = clock.nanoTime();
                }
            }
        } catch (WireException | IOException | CancelledKeyException | ClosedSelectorException e) {
            fail(e);
        } catch (RuntimeException | Error e) {
            fail(e);
            throw e;
        }
        return interrupted;
    }

    private boolean flushUnwritten() {
        flush();
        return !unwritten;
    }

    /** Reads the available bytes; returns whether there were any. */
    private boolean readOnce() throws IOException, WireException {
        readBuffer.clear();
        final int count = channel.read(readBuffer);
        if (count < 0) {
            throw new IOException("the server closed the connection");
        }
        if (count == 0) {
            return false;
        }
        readBuffer.flip();
        in.take(readBuffer, this);
        return true;
    }

    @Override
    public boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException {
        final long number = FrameHeadDescriptor.number(buffer, at);
        final int type = FrameHeadDescriptor.type(buffer, at);
        if (type == ClientFrameDescriptor.ROUTING) {
            onRouting.accept(BytesFrame.body(buffer, at, length));
            if (number == 0) {
                return true;
            }
        }
        final int slot = (int) number & 0xffff;
        if (slot >= slots.count() || inFlightRequests[slot].number() != number) {
            throw new WireException(WireFault.BAD_FRAME, "response without a request: number " + number);
        }
        final InFlightRequest inFlight = inFlightRequests[slot];
        if (inFlight.changes(InFlightRequest.SENT, InFlightRequest.ANSWERING)) {
            answer(inFlight, type, buffer, at, length);
        } else if (inFlight.changes(InFlightRequest.ABANDONED, InFlightRequest.ANSWERING)) {
            release(inFlight);
        } else {
            throw new WireException(WireFault.BAD_FRAME, "duplicate response: number " + number);
        }
        return true;
    }

    private void answer(InFlightRequest inFlight, int type, ByteBuffer buffer, int at, int length)
            throws WireException {
        InFlightRequest.Outcome outcome = InFlightRequest.Outcome.LOST;
        try {
            final Request request = inFlight.request();
            final ControlRequest controlRequest = inFlight.controlRequest();
            if (request != null) {
                if (type != ClientFrameDescriptor.ANSWER) {
                    throw new WireException(WireFault.BAD_FRAME, "frame type " + type + " in response to a request");
                }
                ResponseDescriptor.check(buffer, at, length);
                ResponseDescriptor.read(buffer, at, length, request);
            } else if (controlRequest != null) {
                controlRequest.read(buffer, at, length);
            }
            outcome = InFlightRequest.Outcome.ANSWERED;
        } finally {
            ended(inFlight, outcome);
        }
    }

    private void ended(InFlightRequest inFlight, InFlightRequest.Outcome outcome) {
        final AsyncCall async = inFlight.async();
        final Thread parked = inFlight.done(outcome);
        if (async == null) {
            leaderFollower.wake(parked);
        } else {
            asyncReader.end(async);
        }
    }

    /** Whether no byte has arrived for {@code silenceNs} since the first unanswered attempt. */
    boolean isSilent(long sinceNs, long nowNs, long silenceNs) {
        silentFromNs = lastReadNs - silentFromNs < 0 ? silentFromNs : sinceNs;
        return lastReadNs - silentFromNs < 0 && nowNs - silentFromNs >= silenceNs;
    }

    /** Breaks the connection, from any thread: waiting callers end without a response. */
    void fail(Throwable why) {
        final boolean isFirst = !broken;
        broken = true;
        if (isFirst) {
            LOG.debug("Connection broken server={}", welcome.serverId(), why);
        }
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("Closing a channel failed", e);
        }
        try {
            selector.close();
        } catch (IOException e) {
            LOG.debug("Closing a selector failed", e);
        }
        endAll();
    }

    /** Ends all requests, even if one fails. */
    private void endAll() {
        slots.callAll();
        Throwable failure = null;
        for (int slot = 0; slot < slots.count(); slot++) {
            try {
                end(inFlightRequests[slot]);
            } catch (RuntimeException | Error e) {
                failure = Failures.worse(failure, e);
            }
        }
        Failures.rethrow(failure);
    }

    private void end(InFlightRequest each) {
        if (each.changes(InFlightRequest.SENT, InFlightRequest.ANSWERING)) {
            ended(each, InFlightRequest.Outcome.LOST);
        } else if (each.changes(InFlightRequest.QUEUED, InFlightRequest.WRITING)) {
            ended(each, InFlightRequest.Outcome.UNSENT);
        } else if (each.changes(InFlightRequest.ABANDONED, InFlightRequest.ANSWERING)) {
            release(each);
        }
    }
}
