package org.rowankv.server.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
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
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.FrameDescriptor;
import org.rowankv.protocol.wire.ProtocolException;
import org.rowankv.runtime.Clock;

/**
 * A worker as an event loop: it owns its clients' connections, and the requests it has taken from them. It never blocks while
 * one of them is under way: what waits for acknowledgements is turned again in the next turn, and each connection is
 * answered with one write per turn.
 *
 * <p>When nothing happens it asks again for a while, yielding in between, and blocks then; what others hand to it wakes it
 * up.
 */
final class PortLoop implements Runnable {
    private static final int SCRATCH = 128 << 10;
    private static final int MAX_KEPT = 1_024;
    /** Between two looks at requests that wait for others, when nothing else has happened for long. */
    private static final long REST_NS = 20_000;

    /** How long a request waits for new roles of the server; then its client looks whether others have them. */
    private static final long HOLD_NS = 1_000_000_000L;

    /** Between two looks at who is overdue, and whether clients can be accepted again. */
    static final long CHECK_MS = 100;

    private final ClientPort port;
    private final Clock clock;
    private final LoopCounts counts;
    private final Selector selector;
    private final Thread thread;
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH).order(ByteOrder.LITTLE_ENDIAN);
    private final PageAnswers pages;
    private final ChangeAnswers changes;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Set<ClientConnection> connections = new HashSet<>();
    /** Those that have not said hello, or were refused: they have so much time. */
    private final Set<ClientConnection> greeting = new HashSet<>();

    private final List<ClientConnection> dirty = new ArrayList<>();
    private final ArrayDeque<PendingRequest> kept = new ArrayDeque<>();
    private final List<PendingRequest> active = new ArrayList<>();
    /** Those that want a worker context, in the order in which they came. */
    private final ArrayDeque<PendingRequest> waiting = new ArrayDeque<>();

    /** Those that came while the server had no roles, in that order. */
    private final ArrayDeque<PendingRequest> held = new ArrayDeque<>();

    /** What accepts connections, while it cannot; null if it can, or is another loop's. */
    private @Nullable SelectionKey pausedAcceptor;

    // Made once: one for each turn would be garbage.
    private final Consumer<SelectionKey> whenReady = this::onReady;
    private final Consumer<ClientConnection> readAndWrite = connection -> connection.onReady(scratch);

    private volatile boolean asleep;
    private volatile boolean closing;
    private boolean progress;
    /** When what is done in this turn began to come; meaningful while {@link #stamped}. */
    private long turnNs;

    private boolean stamped;

    PortLoop(ClientPort port, Clock clock, int number, LoopCounts counts) throws IOException {
        this.port = port;
        this.counts = counts;
        this.clock = clock;
        this.selector = Selector.open();
        this.pages = new PageAnswers(port);
        this.changes = new ChangeAnswers(port, this::wakeUp);
        this.thread = new Thread(this, "rowan-clients-" + port.serverId() + "-" + number);
        this.thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    ClientPort port() {
        return port;
    }

    PageAnswers pages() {
        return pages;
    }

    LoopCounts counts() {
        return counts;
    }

    Selector selector() {
        return selector;
    }

    boolean isClosing() {
        return closing;
    }

    /** Any thread: the loop does this soon. */
    void execute(Runnable task) {
        tasks.add(task);
        wakeUp();
    }

    /** Announced before the loop looked for something to do the last time, or it sees what the caller has for it. */
    private void wakeUp() {
        if (asleep) {
            selector.wakeup();
        }
    }

    /** Takes a question for changes. */
    void askChanges(ClientConnection connection, ByteBuffer buffer, int at, int length) throws ProtocolException {
        changes.ask(connection, FrameDescriptor.number(buffer, at), buffer, at, length, clock.nanoTime());
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
            final SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            final ClientConnection connection = new ClientConnection(this, channel, key, clock.nanoTime());
            key.attach(connection);
            connections.add(connection);
            greeting.add(connection);
        } catch (IOException e) {
            port.errors().report("taking a client's connection", e);
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
    void publish(byte[] routing) {
        execute(() -> {
            connections.forEach(each -> each.sendRouting(0, routing));
            changes.signal(); // roles may have gone
        });
    }

    // --- requests ---

    PendingRequest takePending() {
        final PendingRequest free = kept.pollLast();
        return free == null ? new PendingRequest(port.served()) : free;
    }

    /** When requests of this turn have come: one look at the clock for all of them. */
    long turnNs() {
        if (!stamped) {
            stamped = true;
            turnNs = clock.nanoTime();
        }
        return turnNs;
    }

    /** A request that makes sense: is begun, refused, or waits until the server has roles. */
    void admit(PendingRequest pending) {
        if (port.isPaused()) {
            hold(pending);
            return;
        }
        final Status refused = port.whyNotServed(pending.shard(), pending.clientTerm());
        if (refused == Status.OK) {
            pending.begin(port.served());
            begin(pending);
        } else {
            refuse(pending, refused);
        }
    }

    void refuse(PendingRequest pending, Status why) {
        pending.request().noResult();
        pending.request().answer(why, 0, 0, 0);
        answered(pending);
    }

    private void hold(PendingRequest pending) {
        pending.hold(clock.nanoTime());
        counts.waited();
        held.addLast(pending);
    }

    private void begin(PendingRequest pending) {
        if (!waiting.isEmpty() && pending.request().operation().isMutation()) {
            waiting.add(pending); // behind those that came before
        } else if (step(pending)) {
            answered(pending);
        } else {
            (pending.call().awaitsWorker() ? waiting : active).add(pending);
        }
    }

    private boolean step(PendingRequest pending) {
        return pending.call().step();
    }

    void answered(PendingRequest pending) {
        final ClientConnection connection = pending.connection();
        progress = true;
        counts.answered(pending.request());
        if (stamped && pending.beganNs() == turnNs) {
            counts.answeredInTurn(pending.request().operation());
        } else {
            counts.answeredLater(pending.request().operation(), clock.nanoTime() - pending.beganNs());
        }
        if (connection != null) {
            connection.answer(pending);
        }
        pending.end();
        keep(pending);
    }

    private void keep(PendingRequest pending) {
        if (kept.size() < MAX_KEPT && pending.isKept() && pending.isOf(port.served())) {
            kept.addLast(pending);
        }
    }

    private void stepAll() {
        for (int i = 0; i < active.size(); ) {
            if (stepGuarded(active.get(i))) {
                final PendingRequest last = active.remove(active.size() - 1);
                if (i < active.size()) {
                    active.set(i, last);
                }
            } else {
                i++;
            }
        }
        while (!waiting.isEmpty()) {
            final PendingRequest first = waiting.peekFirst();
            if (!stepGuarded(first)) {
                if (first.call().awaitsWorker()) {
                    return;
                }
                active.add(first);
            }
            waiting.pollFirst();
        }
    }

    /** True when the request is over. What fails costs its own client the connection: nobody knows what became of it. */
    private boolean stepGuarded(PendingRequest pending) {
        try {
            if (!step(pending)) {
                return false;
            }
            answered(pending);
        } catch (RuntimeException | Error e) {
            giveUp(pending, e);
        }
        return true;
    }

    // --- between two starts of the server ---

    /**
     * The port is paused: the server is not touched any more. What was not begun waits, as what comes. A change that was begun
     * may take effect or not, and its client is told so: with the same id it will find out from whoever serves next.
     */
    void leaveServer() {
        for (PendingRequest each : active) {
            each.call().abandon();
            if (each.request().operation() == Operation.GET) {
                hold(each);
            } else {
                refuse(each, Status.NO_REPLY);
            }
        }
        active.clear();
        for (PendingRequest each : waiting) {
            each.call().abandon();
            hold(each);
        }
        waiting.clear();
        changes.leaveServer(clock.nanoTime());
    }

    /** The server has roles again: everybody is told, and what has waited gets on. */
    void resume(byte[] routing) {
        kept.clear(); // each would keep the old server, with its index, from being collected
        connections.forEach(each -> each.sendRouting(0, routing));
        for (int left = held.size(); left > 0; left--) {
            final PendingRequest first = held.removeFirst();
            final ClientConnection connection = first.connection();
            if (connection == null || connection.isClosed()) {
                drop(first);
            } else {
                guarded(connection, unused -> admit(first));
            }
        }
    }

    private void drop(PendingRequest pending) {
        pending.end();
        keep(pending);
    }

    /** Those who have waited since before then are told that somebody else may have the shard by now. */
    private void refuseHeldSince(long untilNs) {
        while (!held.isEmpty() && held.peekFirst().heldSinceNs() - untilNs <= 0) {
            refuse(held.removeFirst(), Status.NOT_PRIMARY);
        }
    }

    private void giveUp(PendingRequest pending, Throwable why) {
        port.errors().report("a client's request", why);
        final ClientConnection connection = pending.connection();
        if (connection != null) {
            connection.close();
        }
    }

    // --- the loop ---

    @Override
    public void run() {
        long lastEventNs = clock.nanoTime();
        long nextCheckNs = lastEventNs;
        long drainUntilNs = 0;
        while (true) {
            progress = false;
            turn();
            final long nowNs = clock.nanoTime();
            counts.turn();
            if (stamped) {
                stamped = false;
                counts.endTurn(nowNs - turnNs);
            }
            if (mustCheck() && nowNs - nextCheckNs >= 0) {
                nextCheckNs = nowNs + CHECK_MS * 1_000_000;
                endOverdue(nowNs);
                refuseHeldSince(nowNs - HOLD_NS);
                resumeAcceptor();
                changes.endOverdue(nowNs, false);
            }
            if (closing) {
                refuseHeldSince(nowNs);
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
        end();
    }

    private boolean mustCheck() {
        return !greeting.isEmpty() || pausedAcceptor != null || !held.isEmpty() || changes.isAsked();
    }

    private void turn() {
        select(-1);
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            progress = true;
            task.run();
        }
        stepAll();
        progress |= changes.turn();
        for (int i = 0; i < dirty.size(); i++) { // grows: what had to wait is taken in between
            guarded(dirty.get(i), ClientConnection::onTurnEnd);
        }
        dirty.clear();
    }

    /** @param timeoutMs −1: looks only; 0: until something happens */
    private void select(long timeoutMs) {
        try {
            final int ready = timeoutMs < 0 ? selector.selectNow(whenReady) : selector.select(whenReady, timeoutMs);
            progress |= ready > 0;
        } catch (IOException e) {
            port.errors().report("selecting clients' connections", e);
        }
    }

    private void onReady(SelectionKey key) {
        final Object attached = key.attachment();
        if (attached instanceof ClientConnection connection) {
            guarded(connection, readAndWrite);
        } else if (attached instanceof BooleanSupplier acceptor && !acceptor.getAsBoolean()) {
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

    private void rest(long idleNs) {
        if (idleNs < port.settings().spinNs()) {
            Thread.yield();
        } else if (!active.isEmpty() || !waiting.isEmpty() || changes.isDue()) {
            LockSupport.parkNanos(REST_NS);
        } else {
            asleep = true;
            // Announced first, looked second: see execute.
            if (tasks.isEmpty() && !closing && !changes.isDue()) {
                select(mustCheck() ? CHECK_MS : 0);
            } else if (closing) {
                LockSupport.parkNanos(REST_NS);
            }
            asleep = false;
        }
    }

    // --- the end ---

    /** Any thread: nothing more is read, what is under way is answered. */
    void close() {
        closing = true;
        selector.wakeup();
    }

    /** Instead of {@link #close} for a loop that was not started. */
    void neverStarted() {
        end();
    }

    private boolean isDrained() {
        boolean drained = active.isEmpty() && waiting.isEmpty() && tasks.isEmpty();
        for (ClientConnection each : connections) {
            drained &= each.isDrained();
        }
        return drained;
    }

    private void end() {
        changes.close();
        for (ClientConnection each : List.copyOf(connections)) {
            each.close();
        }
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        // What is still under way is finished by whoever borrows its worker context next, or when the server is closed.
        active.forEach(this::leave);
        waiting.forEach(this::leave);
        try {
            selector.close();
        } catch (IOException e) {
            port.errors().report("closing a selector", e);
        }
    }

    private void leave(PendingRequest unfinished) {
        unfinished.call().abandon();
        port.countUnfinished();
    }

    void join() throws InterruptedException {
        thread.join();
    }

    boolean isCurrent() {
        return Thread.currentThread() == thread;
    }
}
