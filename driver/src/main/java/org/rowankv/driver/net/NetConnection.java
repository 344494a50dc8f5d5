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
import java.util.function.BooleanSupplier;
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
    /**
     * Limit of reads after a deadline, of {@link #READ_BUFFER_SIZE} bytes each, while a server keeps sending: 16 MiB.
     */
    private static final int MAX_LATE_READS = 256;
    /** Preallocated: after an error there may be no memory. */
    static final IOException READER_ENDED = new IOException("the reader thread of the connection failed");

    private final SocketChannel channel;
    private final Selector selector;
    private final ClientWelcome welcome;
    private final Clock clock;
    private final long spinNs;
    private final SessionRoutes routes;
    private final long silenceNs;
    /** Longest silence of a server, while it owes responses, that its connection survives. */
    private final long maxSilenceNs;

    /** Two more than callers can hold, which are never sent: of {@link #listen}, and of {@link #asyncReader}. */
    private final InFlightRequest[] inFlightRequests;

    private final FairSlotPool slots;
    private final LeaderFollowerReader leaderFollower;
    private final AsyncReader asyncReader;

    private final RequestWriter writer;
    /** Thread id of the last call; a hint, racy. */
    private volatile long lastCaller;

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
            SessionRoutes routes) {
        this.channel = channel;
        this.selector = selector;
        this.writer = new RequestWriter(this, channel, selector, key);
        this.welcome = welcome;
        this.clock = clock;
        this.spinNs = settings.spinNs();
        this.routes = routes;
        this.silenceNs = settings.silenceNs();
        this.maxSilenceNs = settings.attemptNs();
        this.in = new FrameDecoder(
                WirePort.CLIENTS, type -> settings.maxFrame(), FrameMemory.onHeap(BufferAccounting.UNCOUNTED));
        final int slotCount = Math.min(settings.maxInFlight(), welcome.maxInFlight());
        this.inFlightRequests = new InFlightRequest[slotCount + 2];
        for (int i = 0; i < inFlightRequests.length; i++) {
            inFlightRequests[i] = new InFlightRequest(i, i, this);
        }
        this.slots = new FairSlotPool(new SlotPool(slotCount), Parker.THREADS, clock);
        this.leaderFollower = new LeaderFollowerReader(inFlightRequests, Parker.THREADS, this, clock);
        this.asyncReader = new AsyncReader(this, leaderFollower, inFlightRequests, clock, spinNs);
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
    private boolean isShared() {
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

    // --- writing ---

    /** Queues a prepared request; {@link #flush} sends it. */
    void enqueue(InFlightRequest inFlight) {
        writer.enqueue(inFlight);
    }

    /** Sends the queue, unless another thread is writing, which then sends it. */
    void flush() {
        writer.flush();
        if (broken) {
            endAll();
        }
    }

    /** Queues a prepared request and sends the queue. After an error no other thread touches the request. */
    void send(InFlightRequest inFlight) {
        boolean isSent = false;
        if (inFlight.async() != null) {
            asyncReader.retain();
        }
        try {
            enqueue(inFlight);
            if (inFlight.request() != null && inFlight.async() == null && isShared()) {
                // Lets other callers queue their requests, so that one write sends all: callers whose responses
                // arrived together continue together.
                Thread.yield();
            }
            flush();
            isSent = true;
        } finally {
            if (!isSent) {
                abandon(inFlight);
            }
        }
    }

    // --- waiting and reading ---

    /**
     * Waits for the response on the calling thread, which reads if the role is free, until the request's deadline, or
     * until the request is no longer this server's. Afterwards no other thread touches the request, and the slot is
     * released.
     */
    InFlightRequest.Outcome await(InFlightRequest own) {
        final long beginNs = own.beginNs();
        boolean interrupted = false;
        boolean orderly = false;
        try {
            interrupted = VirtualThreads.isCurrentVirtual() && !own.isOverdue(clock.nanoTime())
                    ? awaitAsFollower(own)
                    : leaderFollower.await(own, spinNs);
            orderly = true;
        } finally {
            if (!orderly) {
                abandon(own);
            }
        }
        final boolean left = !own.isDone() && hasLeft(own);
        InFlightRequest.Outcome outcome = withdraw(own);
        if (outcome == null) {
            outcome = own.outcome();
            release(own);
        } else if (outcome == InFlightRequest.Outcome.LOST) {
            breakIfSilent(beginNs, left);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return outcome;
    }

    /** Waits on a virtual thread, which must not read: that would pin its carrier. */
    private boolean awaitAsFollower(InFlightRequest own) {
        asyncReader.retain();
        try {
            return leaderFollower.awaitAsFollower(own);
        } finally {
            asyncReader.release();
        }
    }

    /** Reads what the server pushes, until a newer configuration than that of the term is known. One thread at a time. */
    void listen(long term, long untilNs) {
        final InFlightRequest own = inFlightRequests[slots.count()];
        final boolean unused =
                leaderFollower.await(own.begin(ControlRequest.CONFIGURATION, term, clock.nanoTime(), untilNs), 0);
    }

    /** Makes every waiting caller check whether its request is still this server's. */
    void rerouted() {
        selector.wakeup();
        leaderFollower.wakeAll();
    }

    /** The newest known term. */
    long term() {
        return routes.term();
    }

    /** Whether the request is no longer this server's. */
    boolean hasLeft(InFlightRequest each) {
        return routes.hasLeft(each.shard(), each.term());
    }

    @Override
    public boolean isOver(InFlightRequest own) {
        return own.isDone() || broken || hasLeft(own);
    }

    /**
     * Called by the caller of a request after an error: no other thread touches its request afterwards. Breaks the
     * connection, whose state is unknown after the error.
     */
    void abandon(InFlightRequest own) {
        broken = true;
        if (withdraw(own) != null && own.async() != null) {
            asyncReader.release();
        }
        fail(new IOException("an error of a caller left the connection in an unknown state"));
    }

    /** Takes a request of the caller from writer and reader: its outcome without a response. Null: it is done. */
    private InFlightRequest.@Nullable Outcome withdraw(InFlightRequest own) {
        InFlightRequest.Outcome outcome = null;
        while (outcome == null && !own.isDone()) {
            outcome = own.withdraw();
            if (outcome == null && own.state() == InFlightRequest.IDLE) {
                return InFlightRequest.Outcome.UNSENT; // an error struck its caller before it was queued
            } else if (outcome == null) {
                Thread.yield(); // ends: another thread is between two states, and does not block there
            }
        }
        return outcome;
    }

    @Override
    public boolean read(InFlightRequest own, boolean spins) {
        boolean interrupted = false;
        long nowNs = clock.nanoTime();
        long spinUntilNs = nowNs + spinNs;
        long silentAtNs = silenceNs + later(lastReadNs, own.beginNs());
        int lateReads = 0;
        try {
            while (!isOver(own)) {
                // After the deadline too: a response that has arrived counts, however late its caller starts to wait.
                final boolean any = readOnce();
                if (any) {
                    lastReadNs = nowNs;
                }
                if (own.isDone()) {
                    break;
                }
                nowNs = clock.nanoTime();
                if (own.isOverdue(nowNs)) {
                    if (!any || ++lateReads == MAX_LATE_READS) {
                        break;
                    }
                } else if (any || writer.flushUnwritten()) {
                    spinUntilNs = nowNs + spinNs;
                    silentAtNs = nowNs + silenceNs;
                } else if (spins && nowNs - spinUntilNs < 0) {
                    Thread.yield();
                } else {
                    // An interrupted thread would not wait.
                    interrupted |= Thread.interrupted();
                    if (nowNs - silentAtNs >= 0) {
                        routes.onSilence();
                        silentAtNs = nowNs + silenceNs;
                    }
                    final long ns = Math.min(own.deadlineNs() - nowNs, silentAtNs - nowNs);
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
            routes.onRouting(BytesFrame.body(buffer, at, length));
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

    /** Ends a request, which its caller may then touch; called by the thread that has it. */
    void ended(InFlightRequest inFlight, InFlightRequest.Outcome outcome) {
        final boolean isAsync = inFlight.async() != null;
        final Thread parked = inFlight.done(outcome);
        if (isAsync) {
            asyncReader.end(inFlight);
        } else {
            leaderFollower.wake(parked);
        }
    }

    /** Asks for a newer configuration if the server has been silent for long, and owes a response since then. */
    void checkSilence(long oldestNs, long nowNs) {
        if (nowNs - later(lastReadNs, oldestNs) >= silenceNs) {
            routes.onSilence();
        }
    }

    private static long later(long oneNs, long otherNs) {
        return oneNs - otherNs > 0 ? oneNs : otherNs;
    }

    /** Breaks the connection after a lost response, if it has been silent for long, or was when the shard left. */
    void breakIfSilent(long beginNs, boolean left) {
        if (isSilent(beginNs, clock.nanoTime(), left ? silenceNs : maxSilenceNs)) {
            fail(new IOException("no bytes received for too long"));
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
