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
 * A connection to a server, worked by the threads that use it: whoever finds nobody writing writes what all have queued, and
 * one of those that wait reads for all of them ({@link LeaderFollowerReader}).
 *
 * <p>The channel never blocks, so an interrupt cannot close it: a caller that is interrupted waits on, and finds its interrupt
 * again afterwards. A connection that has broken stays broken. Thread-safe.
 */
final class NetConnection implements FrameDecoder.Taker, LeaderFollowerReader.Reader {
    private static final Logger LOG = LoggerFactory.getLogger(NetConnection.class);
    private static final int SCRATCH = 64 << 10;
    private static final int FIRST_OUTPUT = 16 << 10;
    /** Of {@link #SCRATCH} bytes at most, behind a deadline, while a server sends on: 16 MiB. */
    private static final int MAX_LATE_READS = 256;
    /** Made before: after an error there may be no memory for one. */
    private static final IOException READER_ENDED = new IOException("the thread that reads for others met an error");

    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final ClientWelcome welcome;
    private final Clock clock;
    private final long spinNs;
    private final Consumer<byte[]> onRouting;

    /** One more than callers can have: the last is that of {@link #asyncReader}, which is never sent. */
    private final InFlightRequest[] exchanges;

    private final FairSlotPool slots;
    private final LeaderFollowerReader role;
    private final AsyncReader asyncReader;

    // --- who writes ---
    private final AtomicReference<@Nullable InFlightRequest> queue = new AtomicReference<>();
    private final AtomicBoolean writing = new AtomicBoolean();
    private final FrameEncoder out = new FrameEncoder(FIRST_OUTPUT);
    /** Something that the socket did not take is left: whoever reads writes it. */
    private volatile boolean unwritten;
    /** The thread whose call was the last, as far as anybody noticed. */
    private volatile long lastCaller;

    // --- who reads ---
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH).order(ByteOrder.LITTLE_ENDIAN);
    private final FrameDecoder in;

    private volatile long lastReadNs;
    private volatile long silentFromNs; // of racing writers any is right
    private volatile boolean broken;
    private final BooleanSupplier isBroken = () -> broken; // made once, for all that borrow places

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
        final int places = Math.min(settings.maxInFlight(), welcome.maxInFlight());
        this.exchanges = new InFlightRequest[places + 1];
        for (int i = 0; i < exchanges.length; i++) {
            exchanges[i] = new InFlightRequest(i);
        }
        this.slots = new FairSlotPool(new SlotPool(places), Parker.THREADS, clock);
        this.role = new LeaderFollowerReader(exchanges, Parker.THREADS, this, clock);
        this.asyncReader = new AsyncReader(role, exchanges[places], clock, spinNs, () -> fail(READER_ENDED));
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

    /** Asked once per call: whether the call before was somebody else's. A hint, by racing threads. */
    boolean isShared() {
        final long caller = Thread.currentThread().getId();
        if (lastCaller == caller) {
            return false;
        }
        lastCaller = caller;
        return true;
    }

    /** A place that is the caller's, or null: none is free now. */
    @Nullable
    InFlightRequest tryBorrow() {
        final int slot = slots.tryBorrow();
        return slot < 0 ? null : exchanges[slot];
    }

    /** A place that is the caller's, or null: none became free in time, or the connection is broken. */
    @Nullable
    InFlightRequest borrow(long deadlineNs) {
        final int slot = slots.borrow(deadlineNs, isBroken);
        return slot < 0 ? null : exchanges[slot];
    }

    /** By whoever borrowed it and is done with it. */
    void giveBack(InFlightRequest exchange) {
        exchange.forget();
        exchange.state(InFlightRequest.IDLE);
        slots.giveBack(exchange.slot());
    }

    /** Before it is queued: the reader for callers that do not wait will look after this call. */
    void begin(AsyncCall call) {
        asyncReader.begin(call);
    }

    // --- writing ---

    /** Queues what was prepared; {@link #flush} sends it. */
    void enqueue(InFlightRequest exchange) {
        exchange.state(InFlightRequest.QUEUED);
        InFlightRequest head;
        do {
            head = queue.get();
            exchange.next(head);
        } while (!queue.compareAndSet(head, exchange));
    }

    /** Sends what is queued, unless somebody else is at it, who then sends that too. */
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

    private void writeFrame(InFlightRequest exchange) {
        boolean written = false;
        try {
            write(exchange);
            written = true;
        } finally {
            if (written) {
                exchange.state(InFlightRequest.SENT);
            } else {
                ended(exchange, InFlightRequest.Outcome.UNSENT);
            }
        }
    }

    private void write(InFlightRequest exchange) {
        final Request request = exchange.request();
        final ControlRequest question = exchange.question();
        if (request != null) {
            RequestDescriptor.write(out, request, exchange.number(), exchange.term());
        } else if (question != null) {
            question.write(out, exchange.number());
        }
    }

    private void dropCancelled(InFlightRequest exchange) {
        if (exchange.state() == InFlightRequest.CANCELLED) {
            giveBack(exchange);
        }
    }

    private void endUnsent(InFlightRequest exchange) {
        if (exchange.changes(InFlightRequest.QUEUED, InFlightRequest.WRITING)) {
            ended(exchange, InFlightRequest.Outcome.UNSENT);
        } else {
            dropCancelled(exchange);
        }
    }

    // --- waiting and reading ---

    /**
     * Waits for the answer to what was sent, on the calling thread, which reads if nobody else does. Afterwards nobody touches
     * the request any more, and the place is not the caller's.
     */
    InFlightRequest.Outcome await(InFlightRequest own, long deadlineNs) {
        boolean interrupted = false;
        InFlightRequest.Outcome outcome = null;
        try {
            interrupted = VirtualThreads.isCurrentVirtual() && deadlineNs - clock.nanoTime() > 0
                    ? awaitReader(own, deadlineNs)
                    : role.await(own, deadlineNs, spinNs);
            outcome = own.isDone() ? own.outcome() : giveUp(own);
        } finally {
            if (outcome == null) {
                abandon(own);
            }
        }
        if (own.isDone()) {
            giveBack(own);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return outcome;
    }

    /** On a virtual thread: to read there would hold its carrier up, and with it other callers. */
    private boolean awaitReader(InFlightRequest own, long deadlineNs) {
        asyncReader.attend();
        try {
            return role.awaitOthers(own, deadlineNs);
        } finally {
            asyncReader.leave();
        }
    }

    /**
     * By the caller of an exchange that met an error before it was done with it: nobody touches its request afterwards. What
     * else the error has left half done here is unknown, so that the connection is of no more use.
     */
    void abandon(InFlightRequest own) {
        broken = true;
        giveUp(own);
        fail(new IOException("a caller's error"));
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
                // Behind the deadline too: what has arrived by then counts, however late its caller begins to wait.
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

    /** Takes what has come; whether that was anything. */
    private boolean readOnce() throws IOException, WireException {
        scratch.clear();
        final int count = channel.read(scratch);
        if (count < 0) {
            throw new IOException("the server closed the connection");
        }
        if (count == 0) {
            return false;
        }
        scratch.flip();
        in.take(scratch, this);
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
        if (slot >= slots.count() || exchanges[slot].number() != number) {
            throw new WireException(WireFault.BAD_FRAME, "an answer to nothing that was asked: " + number);
        }
        final InFlightRequest exchange = exchanges[slot];
        if (exchange.changes(InFlightRequest.SENT, InFlightRequest.ANSWERING)) {
            answer(exchange, type, buffer, at, length);
        } else if (exchange.changes(InFlightRequest.ABANDONED, InFlightRequest.ANSWERING)) {
            giveBack(exchange);
        } else {
            throw new WireException(WireFault.BAD_FRAME, "a second answer to " + number);
        }
        return true;
    }

    private void answer(InFlightRequest exchange, int type, ByteBuffer buffer, int at, int length)
            throws WireException {
        InFlightRequest.Outcome outcome = InFlightRequest.Outcome.LOST;
        try {
            final Request request = exchange.request();
            final ControlRequest question = exchange.question();
            if (request != null) {
                if (type != ClientFrameDescriptor.ANSWER) {
                    throw new WireException(WireFault.BAD_FRAME, "type " + type + " for a request");
                }
                ResponseDescriptor.check(buffer, at, length);
                ResponseDescriptor.read(buffer, at, length, request);
            } else if (question != null) {
                question.read(buffer, at, length);
            }
            outcome = InFlightRequest.Outcome.ANSWERED;
        } finally {
            ended(exchange, outcome);
        }
    }

    private void ended(InFlightRequest exchange, InFlightRequest.Outcome outcome) {
        final AsyncCall async = exchange.async();
        final Thread parked = exchange.done(outcome);
        if (async == null) {
            role.wake(parked);
        } else {
            asyncReader.end(async);
        }
    }

    // --- the end ---

    /** After an attempt without an answer: whether since the first such one no byte was heard for the patience. */
    boolean isSilent(long sinceNs, long nowNs, long patienceNs) {
        silentFromNs = lastReadNs - silentFromNs < 0 ? silentFromNs : sinceNs;
        return lastReadNs - silentFromNs < 0 && nowNs - silentFromNs >= patienceNs;
    }

    /** Any thread: nothing more comes or goes. Who waits is told that its answer is lost. */
    void fail(Throwable why) {
        final boolean isNews = !broken;
        broken = true;
        if (isNews) {
            LOG.debug("The connection to server {} broke", welcome.serverId(), why);
        }
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("A channel did not close well", e);
        }
        try {
            selector.close();
        } catch (IOException e) {
            LOG.debug("A selector did not close well", e);
        }
        endAll();
    }

    /** All of them, also if an error strikes at one. */
    private void endAll() {
        slots.callAll();
        Throwable failure = null;
        for (int slot = 0; slot < slots.count(); slot++) {
            try {
                end(exchanges[slot]);
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
            giveBack(each);
        }
    }
}
