package org.rowankv.server.frontend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.rdma.IoPoller;
import org.rowankv.runtime.Clock;

/**
 * An event loop that is also a worker: it owns its clients' connections and their pending requests. It never blocks
 * while a request is pending: each cycle polls the requests that await acknowledgements, and writes the answers of each
 * connection once.
 *
 * <p>When idle, the loop spins with yields for a while, then blocks. Tasks from other threads wake it, as do
 * acknowledgements that arrive through its own I/O.
 */
final class ClientEventLoop implements Runnable {
    private static final int READ_BUFFER_LENGTH = 128 << 10;
    /** Park time between two polls while requests wait for other threads, after a long idle time. */
    private static final long PARK_NS = 20_000;
    /** The same if acknowledgements arrive through the loop's own I/O, which ends the wait. */
    private static final long POLL_NS = 1_000_000;

    /** How often the loop helps the agents that pending requests may depend on. */
    private static final long HELP_NS = 1_000_000;

    /** How long a request waits for new roles of the server; then its client tries other servers. */
    private static final long HOLD_NS = 1_000_000_000L;

    /** How long a request waits for a shard that is being opened. Short: a client that stops waiting does not know the outcome. */
    private static final long EARLY_NS = 20_000_000;

    /** How long an incomplete frame, or unsent answers, may make less progress than 64 KiB or the rest. */
    private static final long STALL_NS = 30_000_000_000L;

    /** The same while frames wait for memory. */
    private static final long HURRIED_STALL_NS = 2_000_000_000L;

    /** While frames wait for memory: how long a frame may have reserved memory. */
    private static final long WHOLE_FRAME_NS = 5 * HURRIED_STALL_NS;

    /** Interval of the checks for overdue connections and requests, and of accept retries. */
    static final long CHECK_MS = 100;

    private final ClientPort port;
    private final Clock clock;
    private final LoopCounters counts;
    private final IoPoller io;
    private final Thread thread;
    private final ByteBuffer readBuffer =
            ByteBuffer.allocateDirect(READ_BUFFER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    private final ScanHandler pages;
    private final ChangeFeedHandler changes;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Set<ClientConnection> connections = new HashSet<>();
    /** Connections in the handshake, or refused: both have a deadline. */
    private final Set<ClientConnection> greeting = new HashSet<>();

    private final List<ClientConnection> dirty = new ArrayList<>();
    private final RequestPipeline requests;
    private final LoopMemoryBudget memory;
    /** Connections with a frame or answers in progress. */
    private int owing;

    /** Key of the acceptor while it is paused; null if it accepts, or belongs to another loop. */
    private @Nullable SelectionKey pausedAcceptor;

    // Created once: a lambda per cycle would be garbage.
    private final Consumer<ClientConnection> readAndWrite = connection -> connection.onReady(readBuffer);

    private long helpedNs;
    /** Since when frames have waited for memory without a break; meaningful while they do. */
    private long hurriedSinceNs;

    private volatile boolean closing;
    private volatile boolean ended;
    private boolean progress;

    /** @param io closed with the loop */
    ClientEventLoop(ClientPort port, IoPoller io, Clock clock, int number, LoopCounters counts) {
        this.port = port;
        this.memory = new LoopMemoryBudget(
                port.settings().maxHeldBytes() / port.settings().loops(),
                port.settings().maxInFlight(),
                counts);
        this.requests = new RequestPipeline(port, number, clock, counts, memory);
        this.counts = counts;
        this.clock = clock;
        this.io = io;
        this.pages = new ScanHandler(port);
        this.changes = new ChangeFeedHandler(port, memory, io::wakeUp);
        this.thread = io.newThread("rowan-clients-" + port.serverId() + "-" + number, this);
    }

    void start() {
        thread.start();
    }

    ClientPort port() {
        return port;
    }

    ScanHandler pages() {
        return pages;
    }

    LoopMemoryBudget memory() {
        return memory;
    }

    /** Adds to the number of connections with a frame or answers in progress. */
    void owes(int delta) {
        owing += delta;
    }

    /** Start of this cycle, approximately. */
    long cycleNs() {
        return requests.cycleNs();
    }

    LoopCounters counts() {
        return counts;
    }

    /** Makes this loop accept connections. Call before {@link #start}. */
    void watch(ServerSocketChannel listener, BooleanSupplier acceptor) throws ClosedChannelException {
        final SelectionKey unused = io.watch(listener, SelectionKey.OP_ACCEPT, key -> accept(key, acceptor));
    }

    boolean isClosing() {
        return closing;
    }

    /** Runs the task soon, on the loop. Thread-safe. */
    void execute(Runnable task) {
        tasks.add(task);
        if (ended) {
            runTasks();
        } else {
            io.wakeUp();
        }
    }

    /** Runs on the loop; after its end, however caused, on the thread that submits a task. */
    private synchronized void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    /** Accepts a request for changes. */
    void askChanges(ClientConnection connection, ByteBuffer buffer, int at, int length) throws WireException {
        changes.ask(connection, FrameHeadDescriptor.number(buffer, at), buffer, at, length, clock.nanoTime());
    }

    /** Assigns a connection to this loop. Thread-safe. */
    void adopt(SocketChannel channel) {
        execute(() -> register(channel));
    }

    private void register(SocketChannel channel) {
        if (closing) {
            ClientPort.closeQuietly(channel);
            port.connectionClosed();
            return;
        }
        try {
            channel.configureBlocking(false);
            final ClientConnection connection =
                    new ClientConnection(this, channel, port.nextConnection(), clock.nanoTime());
            connection.watched(io.watch(channel, SelectionKey.OP_READ, unused -> guarded(connection, readAndWrite)));
            connections.add(connection);
            greeting.add(connection);
        } catch (IOException e) {
            port.errors().reportExpected("accepting a client's connection", e);
            ClientPort.closeQuietly(channel);
            port.connectionClosed();
        }
    }

    void endAfterRefusal(ClientConnection connection) {
        greeting.add(connection);
    }

    void closed(ClientConnection connection) {
        connections.remove(connection);
        greeting.remove(connection);
        changes.forget(connection);
        port.connectionClosed();
    }

    void hasOutput(ClientConnection connection) {
        dirty.add(connection);
    }

    /** Announces the new routing to every client. */
    void publish() {
        execute(() -> {
            connections.forEach(ClientConnection::routingChanged);
            changes.signal(); // a role may be lost
            requests.lookAtEarly();
        });
    }

    /** The routing that is in force has changed. Thread-safe. */
    void lookAtRouting() {
        final boolean unused = requests.lookAtEarly();
        io.wakeUp();
    }

    /** A shard may have been opened for which requests wait. Thread-safe. */
    void lookAtEarly() {
        if (requests.lookAtEarly()) {
            io.wakeUp();
        }
    }

    RequestPipeline requests() {
        return requests;
    }

    /** The port is paused: the server must not be accessed any more. */
    void leaveServer() {
        requests.leaveServer();
        changes.leaveServer(clock.nanoTime());
    }

    /** The server has roles again: announces the routing and resumes held requests. */
    void resume() {
        connections.forEach(ClientConnection::routingChanged);
        requests.resume();
    }

    // --- the loop ---

    @Override
    public void run() {
        try {
            runUntilDrained();
        } catch (RuntimeException | Error e) {
            // Its clients lose their server, and its requests stay incomplete.
            port.errors().broken(thread.getName(), e);
            throw e;
        } finally {
            // In any case: queue pairs without a poller would block the threads that acquire their contexts.
            end();
        }
    }

    private void runUntilDrained() {
        long lastEventNs = clock.nanoTime();
        long nextCheckNs = lastEventNs;
        long drainUntilNs = 0;
        while (true) {
            progress = false;
            runCycle();
            final long nowNs = clock.nanoTime();
            counts.countCycle();
            requests.endCycle(nowNs);
            if (mustCheck() && nowNs - nextCheckNs >= 0) {
                nextCheckNs = nowNs + CHECK_MS * 1_000_000;
                endOverdue(nowNs);
                endStalled(nowNs);
                requests.refuseHeldSince(nowNs - HOLD_NS);
                resumeAcceptor();
                changes.endOverdue(nowNs, false);
            }
            requests.refuseEarlySince(nowNs - EARLY_NS);
            if (port.routing().isDue(nowNs)) {
                port.announce(nowNs);
            }
            if (requests.areUnderWay() && nowNs - helpedNs >= HELP_NS) {
                helpedNs = nowNs;
                requests.help();
            }
            if (closing) {
                requests.refuseHeldSince(nowNs);
                requests.refuseEarlySince(nowNs);
                changes.endOverdue(nowNs, true);
                if (drainUntilNs == 0) {
                    drainUntilNs = nowNs + port.settings().drainNs();
                }
                if (isDrained() || nowNs - drainUntilNs >= 0) {
                    break;
                }
            }
            // Answers written by the checks above must be sent, even if no other event arrives.
            if (progress || !dirty.isEmpty()) {
                lastEventNs = nowNs;
            } else {
                idle(nowNs - lastEventNs);
            }
        }
    }

    private boolean mustCheck() {
        return !greeting.isEmpty()
                || pausedAcceptor != null
                || owing > 0
                || memory.isWaitedFor()
                || requests.areHeld()
                || changes.isAsked();
    }

    private void runCycle() {
        select(0);
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            progress = true;
            task.run();
        }
        progress |= requests.poll();
        progress |= changes.poll();
        for (int i = 0; i < dirty.size(); i++) { // the list grows: blocked input is processed in between
            guarded(dirty.get(i), ClientConnection::onCycleEnd);
        }
        dirty.clear();
        memory.grantWaiting();
        if (memory.isFull()) {
            relieve(clock.nanoTime());
        }
    }

    /** @param timeoutNs 0: polls without blocking */
    private void select(long timeoutNs) {
        try {
            final int happened = timeoutNs == 0 ? io.poll() : io.await(timeoutNs);
            progress |= happened > 0;
        } catch (UncheckedIOException e) {
            port.errors().report("selecting clients' connections", e);
        }
    }

    private void accept(SelectionKey key, BooleanSupplier acceptor) {
        if (!acceptor.getAsBoolean()) {
            // For example, file descriptors are exhausted: waiting connections would make the key ready again at once.
            key.interestOps(0);
            pausedAcceptor = key;
        }
    }

    private void resumeAcceptor() {
        final SelectionKey paused = pausedAcceptor;
        if (paused != null && paused.isValid()) {
            paused.interestOps(SelectionKey.OP_ACCEPT);
        }
        pausedAcceptor = null;
    }

    /** A failure in the handling of one connection closes that connection only. */
    private void guarded(ClientConnection connection, Consumer<ClientConnection> step) {
        try {
            step.accept(connection);
        } catch (RuntimeException | Error e) {
            port.errors().report("a client's connection", e);
            connection.close();
        }
    }

    private void endOverdue(long nowNs) {
        greeting.removeIf(each -> !each.isGreeting());
        for (ClientConnection each : List.copyOf(greeting)) {
            if (each.isOverdue(nowNs)) {
                each.onOverdue();
            }
        }
    }

    /** Closes stalled connections; after a shorter time if memory is short. */
    private void endStalled(long nowNs) {
        if (memory.isShort()) {
            requests.dropKept();
            connections.forEach(ClientConnection::trim);
        }
        if (memory.takeCalm()) {
            hurriedSinceNs = nowNs;
        }
        if (owing > 0) {
            final boolean hurried = memory.isWaitedFor();
            final long stallLimitNs = hurried ? HURRIED_STALL_NS : STALL_NS;
            // A frame that barely makes progress would keep its reserved memory from others. Slowness is no fault
            // before others wait: the time counts from when they began to wait.
            final boolean expired = hurried && nowNs - hurriedSinceNs >= WHOLE_FRAME_NS;
            final long wholeNs = expired ? WHOLE_FRAME_NS : Long.MAX_VALUE;
            connections.stream()
                    .filter(each -> each.stalledNs(nowNs) >= stallLimitNs || each.roomHeldNs(nowNs) >= wholeNs)
                    .toList()
                    .forEach(ClientConnection::onStalled);
        }
        memory.grantWaiting();
    }

    /** Memory is full: closes connections until it is not, longest stalled first. */
    private void relieve(long nowNs) {
        requests.dropKept();
        connections.forEach(ClientConnection::trim);
        while (memory.isFull()) {
            ClientConnection slowest = null;
            long longestNs = memory.isOverfull() ? 0 : CHECK_MS * 1_000_000;
            for (ClientConnection each : connections) {
                final long stalledNs = each.stalledNs(nowNs);
                if (each.isOwing() && stalledNs >= longestNs) {
                    slowest = each;
                    longestNs = stalledNs;
                }
            }
            if (slowest == null && memory.isOverfull()) {
                slowest = memory.lastWaiting();
            }
            if (slowest == null) {
                return;
            }
            slowest.onStalled();
        }
    }

    private void idle(long idleNs) {
        if (idleNs < port.settings().spinNs()) {
            Thread.yield();
        } else if (closing || changes.isDue()) {
            LockSupport.parkNanos(PARK_NS);
        } else if (!requests.areUnderWay()) {
            final long checkNs = mustCheck() ? CHECK_MS * 1_000_000 : Long.MAX_VALUE;
            select(requests.areEarly() || port.routing().isAnnouncing() ? EARLY_NS / 4 : checkNs);
        } else if (io.carriesPairs()) {
            select(POLL_NS);
        } else {
            LockSupport.parkNanos(PARK_NS);
        }
    }

    // --- the end ---

    /** Stops reading and answers pending requests. Thread-safe. */
    void close() {
        closing = true;
        io.wakeUp();
    }

    /** Instead of {@link #close} for a loop that was not started. */
    void neverStarted() {
        end();
    }

    private boolean isDrained() {
        boolean drained = !requests.areUnderWay() && tasks.isEmpty();
        for (ClientConnection each : connections) {
            drained &= each.isDrained();
        }
        return drained;
    }

    private void end() {
        closing = true;
        changes.close();
        for (ClientConnection each : List.copyOf(connections)) {
            each.close();
        }
        requests.end();
        memory.end();
        try {
            io.close();
        } catch (UncheckedIOException e) {
            port.errors().report("ending the I/O of clients", e);
        }
        ended = true;
        runTasks();
    }

    void join() throws InterruptedException {
        thread.join();
    }
}
