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
 * A worker as an event loop: it owns its clients' connections, and the requests it has taken from them. It never blocks while
 * one of them is under way: what waits for acknowledgements is turned again in the next turn, and each connection is
 * answered with one write per turn.
 *
 * <p>When nothing happens it asks again for a while, yielding in between, and blocks then; what others hand to it wakes it
 * up, and so do acknowledgements that come by its own I/O.
 */
final class ClientEventLoop implements Runnable {
    private static final int SCRATCH = 128 << 10;
    /** Between two looks at requests that wait for others, when nothing else has happened for long. */
    private static final long REST_NS = 20_000;
    /** The same where what they wait for mostly comes by the loop's own I/O, which ends the wait. */
    private static final long LOOK_NS = 1_000_000;

    /** While requests are under way: how often those are helped that they may be waiting for. */
    private static final long HELP_NS = 1_000_000;

    /** How long a request waits for new roles of the server; then its client looks whether others have them. */
    private static final long HOLD_NS = 1_000_000_000L;

    /** While others wait for room: how long a frame that has room may take, in times that it may stand still. */
    private static final int WHOLE_FRAME = 5;

    /** Between two looks at who is overdue, and whether clients can be accepted again. */
    static final long CHECK_MS = 100;

    private final ClientPort port;
    private final Clock clock;
    private final LoopCounters counts;
    private final IoPoller io;
    private final Thread thread;
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH).order(ByteOrder.LITTLE_ENDIAN);
    private final ScanHandler pages;
    private final ChangeFeedHandler changes;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Set<ClientConnection> connections = new HashSet<>();
    /** Those that have not said hello, or were refused: they have so much time. */
    private final Set<ClientConnection> greeting = new HashSet<>();

    private final List<ClientConnection> dirty = new ArrayList<>();
    private final RequestPipeline requests;
    private final LoopMemoryBudget memory;
    /** Connections with a frame, or answers, that are under way. */
    private int owing;

    /** What accepts connections, while it cannot; null if it can, or is another loop's. */
    private @Nullable SelectionKey pausedAcceptor;

    // Made once: one for each turn would be garbage.
    private final Consumer<ClientConnection> readAndWrite = connection -> connection.onReady(scratch);

    private long helpedNs;
    /** Since when others have waited for room without a break; meaningful while they do. */
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

    /** One connection more, or less, has a frame or answers under way. */
    void owes(int delta) {
        owing += delta;
    }

    /** When this turn has begun, about. */
    long turnNs() {
        return requests.turnNs();
    }

    LoopCounters counts() {
        return counts;
    }

    /** Before the start: has connections accepted by this loop. */
    void watch(ServerSocketChannel listener, BooleanSupplier acceptor) throws ClosedChannelException {
        final SelectionKey unused = io.watch(listener, SelectionKey.OP_ACCEPT, key -> accept(key, acceptor));
    }

    boolean isClosing() {
        return closing;
    }

    /** Any thread: the loop does this soon. */
    void execute(Runnable task) {
        tasks.add(task);
        if (ended) {
            runTasks();
        } else {
            io.wakeUp();
        }
    }

    /** By the loop; behind its end, whatever that was, by whoever has something for it. */
    private synchronized void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    /** Takes a question for changes. */
    void askChanges(ClientConnection connection, ByteBuffer buffer, int at, int length) throws WireException {
        changes.ask(connection, FrameHeadDescriptor.number(buffer, at), buffer, at, length, clock.nanoTime());
    }

    /** Any thread: a connection for this loop. */
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
            port.errors().reportExpected("taking a client's connection", e);
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

    /** Tells every client of the routing that has changed. */
    void publish() {
        execute(() -> {
            connections.forEach(ClientConnection::routingChanged);
            changes.signal(); // roles may have gone
        });
    }

    RequestPipeline requests() {
        return requests;
    }

    /** The port is paused: the server is not touched any more. */
    void leaveServer() {
        requests.leaveServer();
        changes.leaveServer(clock.nanoTime());
    }

    /** The server has roles again: everybody is told, and what has waited gets on. */
    void resume() {
        connections.forEach(ClientConnection::routingChanged);
        requests.resume();
    }

    // --- the loop ---

    @Override
    public void run() {
        try {
            turnToTheEnd();
        } catch (RuntimeException | Error e) {
            // Its clients have nobody to turn to, and what it has begun stays half done.
            port.errors().broken(thread.getName(), e);
            throw e;
        } finally {
            // Whatever the end: queue pairs that nobody turns any more would hold up whoever borrows their contexts.
            end();
        }
    }

    private void turnToTheEnd() {
        long lastEventNs = clock.nanoTime();
        long nextCheckNs = lastEventNs;
        long drainUntilNs = 0;
        while (true) {
            progress = false;
            turn();
            final long nowNs = clock.nanoTime();
            counts.turn();
            requests.endTurn(nowNs);
            if (mustCheck() && nowNs - nextCheckNs >= 0) {
                nextCheckNs = nowNs + CHECK_MS * 1_000_000;
                endOverdue(nowNs);
                endStalled(nowNs);
                requests.refuseHeldSince(nowNs - HOLD_NS);
                resumeAcceptor();
                changes.endOverdue(nowNs, false);
            }
            if (requests.areUnderWay() && nowNs - helpedNs >= HELP_NS) {
                helpedNs = nowNs;
                requests.help();
            }
            if (closing) {
                requests.refuseHeldSince(nowNs);
                changes.endOverdue(nowNs, true);
                if (drainUntilNs == 0) {
                    drainUntilNs = nowNs + port.settings().drainNs();
                }
                if (isDrained() || nowNs - drainUntilNs >= 0) {
                    break;
                }
            }
            // What was said behind the turn, to who was overdue, is still to be written, and nothing else may come.
            if (progress || !dirty.isEmpty()) {
                lastEventNs = nowNs;
            } else {
                rest(nowNs - lastEventNs);
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

    private void turn() {
        select(0);
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            progress = true;
            task.run();
        }
        progress |= requests.turn();
        progress |= changes.turn();
        for (int i = 0; i < dirty.size(); i++) { // grows: what had to wait is taken in between
            guarded(dirty.get(i), ClientConnection::onTurnEnd);
        }
        dirty.clear();
        memory.turn();
        if (memory.isFull()) {
            relieve(clock.nanoTime());
        }
    }

    /** @param timeoutNs 0: looks only */
    private void select(long timeoutNs) {
        try {
            final int happened = timeoutNs == 0 ? io.turn() : io.await(timeoutNs);
            progress |= happened > 0;
        } catch (UncheckedIOException e) {
            port.errors().report("selecting clients' connections", e);
        }
    }

    private void accept(SelectionKey key, BooleanSupplier acceptor) {
        if (!acceptor.getAsBoolean()) {
            // As when descriptors are exhausted: those that wait would make it ready again at once.
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

    /** A failure in what concerns one connection ends that one. */
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

    /** Closes the connections that do not get on; sooner if memory is short. */
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
            final long hurriedNs = port.settings().hurriedStallNs();
            final long patienceNs = hurried ? hurriedNs : port.settings().stallNs();
            // A frame that gets on by as little as counts would keep room for all of it from others.
            // Slowness is no fault before others wait: the time counts from when they began to.
            final boolean longHurried = hurried && nowNs - hurriedSinceNs >= WHOLE_FRAME * hurriedNs;
            final long wholeNs = longHurried ? WHOLE_FRAME * hurriedNs : Long.MAX_VALUE;
            connections.stream()
                    .filter(each -> each.stalledNs(nowNs) >= patienceNs || each.roomHeldNs(nowNs) >= wholeNs)
                    .toList()
                    .forEach(ClientConnection::onStalled);
        }
        memory.turn();
    }

    /** Memory is full: closes connections until it is not, first the one that has not got on for longest. */
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

    private void rest(long idleNs) {
        if (idleNs < port.settings().spinNs()) {
            Thread.yield();
        } else if (closing || changes.isDue()) {
            LockSupport.parkNanos(REST_NS);
        } else if (!requests.areUnderWay()) {
            select(mustCheck() ? CHECK_MS * 1_000_000 : Long.MAX_VALUE);
        } else if (io.carriesPairs()) {
            select(LOOK_NS);
        } else {
            LockSupport.parkNanos(REST_NS);
        }
    }

    // --- the end ---

    /** Any thread: nothing more is read, what is under way is answered. */
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

    boolean isCurrent() {
        return Thread.currentThread() == thread;
    }
}
