package org.rowankv.driver.net;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.concurrent.DetachedThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections to one server, established on demand and re-established after a break, with back-off. Callers are
 * distributed over them by thread.
 *
 * <p>The link connects on a thread of its own, for all callers. A caller waits until its own deadline; the attempt
 * continues, bounded by {@link NetSettings#connectNs}. So a caller's deadline ends no attempt, and counts as no failure
 * of the server. Background requests use a second thread, because they wait for connections too. Thread-safe.
 */
final class ServerLink {
    /** Establishes one connection. */
    interface Connector {
        /**
         * Resolves the name, connects and completes the handshake; blocks.
         *
         * @param isStopped whether the connection is no longer needed
         * @throws IOException if it cannot connect; the message says why
         */
        NetConnection connect(String address, BooleanSupplier isStopped) throws IOException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(ServerLink.class);
    private static final long FIRST_BACK_OFF_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long MAX_BACK_OFF_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long FIRST_REQUEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long MAX_REQUEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(250);
    /** Bounds waits because the clock may differ from the clock of thread waits. */
    private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final int NONE = -1;
    private static final String CLOSED = "the client was closed";

    private final String address;
    private final NetSettings settings;
    private final Clock clock;
    private final Connector connector;
    private final AtomicReferenceArray<@Nullable NetConnection> connections;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition attemptEnded = lock.newCondition();
    // --- guarded by the lock, under which nothing blocks ---
    /** Connections that callers need. Empty unless {@link #connecting}. */
    private final BitSet requested = new BitSet();
    /** The connection being established, or {@link #NONE}. */
    private int attempting = NONE;
    /** The connecting task runs, or waits for its thread. */
    private boolean connecting;

    private long backOffNs;
    private long nextAttemptNs;
    /** Newer configurations so far: each ends the waits for a connection. */
    private int reroutings;

    private volatile boolean closed;
    // --- end of what the lock guards ---

    /** Threads exist while they have work. At most one task of each of the two kinds is queued or running. */
    private final ThreadPoolExecutor background;

    private final AtomicBoolean requesting = new AtomicBoolean();
    private volatile long nextRequestNs;
    /** Written by the thread of a request. */
    private volatile long requestPauseNs;

    private final OwnedCounter made = new OwnedCounter();
    private final OwnedCounter madeAgain = new OwnedCounter();
    private volatile String lastFailure = "";

    /** @param address empty if unknown: then there is no connection */
    ServerLink(String address, NetSettings settings, Clock clock, Connector connector) {
        this.address = address;
        this.settings = settings;
        this.clock = clock;
        this.connector = connector;
        this.connections = new AtomicReferenceArray<>(settings.connectionsPerServer());
        this.nextRequestNs = clock.nanoTime();
        this.background = new ThreadPoolExecutor(
                2,
                2,
                1,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                task -> DetachedThread.of(task, "rowan-client-link"));
        background.allowCoreThreadTimeOut(true);
    }

    String address() {
        return address;
    }

    /** Why the last attempt to connect failed; empty if it succeeded, or there was none. */
    String lastFailure() {
        return lastFailure;
    }

    /** Why a caller got no connection, for messages. */
    String whyUnreachable() {
        final String failure = lastFailure;
        return failure.isEmpty() ? address + " sent no configuration in time" : failure;
    }

    /** Connections established since the start. */
    long made() {
        return made.get();
    }

    /** Those that replaced a broken one. */
    long madeAgain() {
        return madeAgain.get();
    }

    /**
     * The calling thread's connection; waits for the link to establish it.
     *
     * @param deadlineNs end of the wait; a longer attempt continues
     * @return null if there is none by then, or an attempt failed just now or recently
     */
    @Nullable
    NetConnection connection(long deadlineNs) {
        final int index = index();
        final NetConnection present = presentAt(index);
        if (present != null) {
            return present;
        }
        connectSoon(index);
        awaitAttempt(index, deadlineNs);
        return presentAt(index);
    }

    private int index() {
        final long id = Thread.currentThread().getId();
        // Spreads consecutive thread ids, and those with a stride of two, evenly.
        return (int) ((id ^ id >>> 1) % connections.length());
    }

    private @Nullable NetConnection presentAt(int index) {
        final NetConnection present = connections.get(index);
        return present != null && !present.isBroken() ? present : null;
    }

    /** The calling thread's connection, if established; else null. */
    @Nullable
    NetConnection present() {
        return presentAt(index());
    }

    /**
     * As {@link #present}, or another thread's connection; null if there is none. Starts to establish a missing one,
     * unless an attempt failed recently.
     */
    @Nullable
    NetConnection presentOrConnect() {
        final int own = index();
        for (int i = 0; i < connections.length(); i++) {
            final NetConnection each = presentAt((own + i) % connections.length());
            if (each != null) {
                return each;
            }
            if (i == 0) {
                connectSoon(own);
            }
        }
        return null;
    }

    /** A newer configuration is known: waiting callers check whether their requests are still this server's. */
    void rerouted() {
        requestPauseNs = 0;
        nextRequestNs = clock.nanoTime();
        lock.lock();
        try {
            reroutings++;
            attemptEnded.signalAll();
        } finally {
            lock.unlock();
        }
        for (int i = 0; i < connections.length(); i++) {
            final NetConnection each = connections.get(i);
            if (each != null) {
                each.rerouted();
            }
        }
    }

    /**
     * Runs the request soon, on a thread of this link, unless one is in progress or ended recently: the pause doubles
     * from one to the next, until there is a newer configuration or none for long.
     *
     * @param request receives its deadline
     */
    void requestSoon(ObjLongConsumer<ServerLink> request) {
        final long nowNs = clock.nanoTime();
        if (closed || address.isEmpty() || nowNs - nextRequestNs < 0 || !requesting.compareAndSet(false, true)) {
            return;
        }
        boolean submitted = false;
        try {
            background.execute(() -> {
                try {
                    final boolean isRepeated = clock.nanoTime() - nextRequestNs < MAX_REQUEST_PAUSE_NS;
                    requestPauseNs = isRepeated ? Math.max(FIRST_REQUEST_PAUSE_NS, 2 * requestPauseNs) : 0;
                    request.accept(this, clock.nanoTime() + settings.connectNs());
                } finally {
                    nextRequestNs = clock.nanoTime() + Math.min(MAX_REQUEST_PAUSE_NS, requestPauseNs);
                    requesting.set(false);
                }
            });
            submitted = true;
        } finally {
            if (!submitted) {
                requesting.set(false);
            }
        }
    }

    // --- connecting ---

    /** Schedules an attempt to connect, unless the connection exists or an attempt failed recently. */
    private void connectSoon(int index) {
        lock.lock();
        try {
            final boolean tooEarly = backOffNs > 0 && clock.nanoTime() - nextAttemptNs < 0;
            if (closed || address.isEmpty() || tooEarly || attempting == index || presentAt(index) != null) {
                return;
            }
            requested.set(index);
            if (!connecting) {
                boolean submitted = false;
                try {
                    background.execute(this::connectRequested);
                    submitted = true;
                } finally {
                    connecting = submitted;
                    if (!submitted) {
                        requested.clear();
                    }
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until the attempt for that connection ends, or the deadline passes. An interrupt is restored afterwards.
     */
    private void awaitAttempt(int index, long deadlineNs) {
        boolean interrupted = false;
        lock.lock();
        try {
            final int known = reroutings;
            while (!closed && reroutings == known && (attempting == index || requested.get(index))) {
                final long leftNs = deadlineNs - clock.nanoTime();
                if (leftNs <= 0) {
                    return;
                }
                try {
                    final long unused = attemptEnded.awaitNanos(Math.min(leftNs, SLICE_NS));
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The connecting task; ends when no caller needs a connection. */
    private void connectRequested() {
        boolean orderly = false;
        try {
            for (int index = takeRequested(); index != NONE; index = takeRequested()) {
                NetConnection connection = null;
                try {
                    connection = connector.connect(address, () -> closed);
                } catch (IOException | IllegalArgumentException e) {
                    failed(String.valueOf(e.getMessage()));
                } catch (RuntimeException | Error e) {
                    LOG.error("ROWAN-1004 Connecting failed address={}", address, e);
                    failed(String.valueOf(e));
                }
                if (connection != null) {
                    connected(index, connection); // not above: an error in here is no failure to connect
                }
            }
            orderly = true;
        } finally {
            if (!orderly) {
                abandonTask();
            }
        }
    }

    /** The connection to establish next; {@link #NONE} ends the task. */
    private int takeRequested() {
        lock.lock();
        try {
            for (int i = requested.nextSetBit(0); i >= 0 && !closed; i = requested.nextSetBit(i)) {
                requested.clear(i);
                if (presentAt(i) == null) {
                    attempting = i;
                    return i;
                }
            }
            endTask();
            return NONE;
        } finally {
            lock.unlock();
        }
    }

    private void connected(int index, NetConnection connection) {
        final boolean unneeded;
        lock.lock();
        try {
            unneeded = closed;
            if (!unneeded) {
                final NetConnection before = connections.getAndSet(index, connection);
                backOffNs = 0;
                lastFailure = "";
                made.add(1);
                madeAgain.add(before == null ? 0 : 1);
            }
            endAttempt();
        } finally {
            lock.unlock();
        }
        if (unneeded) {
            connection.fail(new IOException(CLOSED));
        }
    }

    private void failed(String text) {
        final String why = text.contains(address) ? text : address + ": " + text;
        lock.lock();
        try {
            if (!closed) {
                backOffNs = Math.min(MAX_BACK_OFF_NS, Math.max(FIRST_BACK_OFF_NS, 2 * backOffNs));
                nextAttemptNs = clock.nanoTime() + backOffNs;
                if (!why.equals(lastFailure)) {
                    LOG.warn("ROWAN-1005 Server unreachable: {}", why);
                }
                lastFailure = why;
            }
            requested.clear(); // back off for all of them
            endAttempt();
        } finally {
            lock.unlock();
        }
    }

    /** After an error in the task: the next caller starts another one. */
    private void abandonTask() {
        lock.lock();
        try {
            endTask();
        } finally {
            lock.unlock();
        }
    }

    /** Requires the lock. */
    private void endTask() {
        connecting = false;
        requested.clear();
        endAttempt();
    }

    /** Requires the lock: wakes all waiters. */
    private void endAttempt() {
        attempting = NONE;
        attemptEnded.signalAll();
    }

    /**
     * Breaks all connections and prevents new ones. Does not wait for an attempt in progress, which ends soon without
     * effect.
     */
    void close() {
        final List<NetConnection> present = new ArrayList<>();
        lock.lock();
        try {
            closed = true;
            for (int i = 0; i < connections.length(); i++) {
                final NetConnection connection = connections.get(i);
                if (connection != null) {
                    present.add(connection);
                }
            }
            attemptEnded.signalAll();
        } finally {
            lock.unlock();
        }
        present.forEach(each -> each.fail(new IOException(CLOSED)));
    }
}
