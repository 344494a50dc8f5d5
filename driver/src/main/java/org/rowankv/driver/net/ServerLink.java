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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections to one server: made when they are needed, and made again when they broke, not too often. Callers are spread
 * over them by thread.
 *
 * <p>The link makes its connections on a thread of its own, for all callers. A caller waits for that until its own deadline; the
 * attempt goes on behind it, bounded by {@link NetSettings#connectNs}. So a deadline of a caller ends no attempt, and counts as no
 * failure of the server. Inquiries run on a second thread, since they wait for connections too. Thread-safe.
 */
final class ServerLink {
    /** Makes one connection. */
    interface Connector {
        /**
         * Looks the name up, connects and introduces itself; blocks meanwhile.
         *
         * @param isStopped whether the connection is not needed any more
         * @throws IOException if it cannot connect; says why
         */
        NetConnection connect(String address, BooleanSupplier isStopped) throws IOException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(ServerLink.class);
    private static final long FIRST_BACK_OFF_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long MAX_BACK_OFF_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long INQUIRY_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);
    /** The clock may be another one than that by which threads wait. */
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
    private final BitSet wanted = new BitSet();
    /** Run when an attempt has ended, well or not. Empty unless {@link #connecting}. */
    private List<Runnable> awaitingConnection = new ArrayList<>();
    /** The connection that is being made, or {@link #NONE}. */
    private int underWay = NONE;
    /** The task that connects runs, or waits for its thread. */
    private boolean connecting;

    private long backOffNs;
    private long nextAttemptNs;
    private volatile boolean closed;
    // --- end of what the lock guards ---

    /** Threads while there is something to do. At most one task of each of two kinds is under way or waits. */
    private final ThreadPoolExecutor background;

    private final AtomicBoolean inquiring = new AtomicBoolean();
    private volatile long nextInquiryNs;

    private final OwnedCounter made = new OwnedCounter();
    private final OwnedCounter madeAgain = new OwnedCounter();
    private volatile String lastFailure = "";

    /** @param address empty: none is known, so there is no connection */
    ServerLink(String address, NetSettings settings, Clock clock, Connector connector) {
        this.address = address;
        this.settings = settings;
        this.clock = clock;
        this.connector = connector;
        this.connections = new AtomicReferenceArray<>(settings.connectionsPerServer());
        this.nextInquiryNs = clock.nanoTime();
        this.background = new ThreadPoolExecutor(2, 2, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            final Thread made = new Thread(task, "rowan-client-link");
            made.setDaemon(true);
            return made;
        });
        background.allowCoreThreadTimeOut(true);
    }

    String address() {
        return address;
    }

    /** Why the last attempt to connect failed; empty if none did, or if it did not. */
    String lastFailure() {
        return lastFailure;
    }

    /** Why a caller got no connection, in words. */
    String whyUnreachable() {
        final String failure = lastFailure;
        return failure.isEmpty() ? address + " sent no configuration in time" : failure;
    }

    /** Connections made since the beginning. */
    long made() {
        return made.get();
    }

    /** Of those, the ones in the place of one that had broken. */
    long madeAgain() {
        return madeAgain.get();
    }

    /**
     * The calling thread's connection; waits for the link to make it.
     *
     * @param deadlineNs until when the caller waits; an attempt that takes longer goes on
     * @return null if there is none by then, or an attempt failed just now or a moment ago
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
        // Thread ids that follow each other, and those of which every second one calls, are spread alike.
        return (int) ((id ^ id >>> 1) % connections.length());
    }

    private @Nullable NetConnection presentAt(int index) {
        final NetConnection present = connections.get(index);
        return present != null && !present.isBroken() ? present : null;
    }

    /** The calling thread's connection, if it is made already; else null. */
    @Nullable
    NetConnection present() {
        return presentAt(index());
    }

    /**
     * As {@link #present}, or another thread's connection; null if there is none. What is missing is being made from now on, unless an
     * attempt failed a moment ago.
     */
    @Nullable
    NetConnection presentOrSoon() {
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

    /** Whether a connection is being made. */
    boolean isConnecting() {
        lock.lock();
        try {
            return connecting;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs the action once, when the attempt to connect has ended that is under way. A caller that looks for a connection once more
     * after this misses none.
     *
     * @return false if no attempt is under way: then the action does not run
     */
    boolean whenConnected(Runnable action) {
        lock.lock();
        try {
            return connecting && awaitingConnection.add(action);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs the inquiry soon, on a thread of this link, unless one is under way or was begun a moment ago.
     *
     * @param inquiry with the time at which it gives up
     */
    void inquireSoon(ObjLongConsumer<ServerLink> inquiry) {
        final long nowNs = clock.nanoTime();
        if (closed || address.isEmpty() || nowNs - nextInquiryNs < 0 || !inquiring.compareAndSet(false, true)) {
            return;
        }
        boolean handed = false;
        try {
            background.execute(() -> {
                try {
                    final long beginNs = clock.nanoTime();
                    nextInquiryNs = beginNs + INQUIRY_PAUSE_NS;
                    inquiry.accept(this, beginNs + settings.connectNs());
                } finally {
                    inquiring.set(false);
                }
            });
            handed = true;
        } finally {
            if (!handed) {
                inquiring.set(false);
            }
        }
    }

    // --- connecting ---

    /** Has the connection made, unless it is there, or an attempt failed a moment ago. */
    private void connectSoon(int index) {
        lock.lock();
        try {
            final boolean tooEarly = backOffNs > 0 && clock.nanoTime() - nextAttemptNs < 0;
            if (closed || address.isEmpty() || tooEarly || underWay == index || presentAt(index) != null) {
                return;
            }
            wanted.set(index);
            if (!connecting) {
                boolean handed = false;
                try {
                    background.execute(this::connectWanted);
                    handed = true;
                } finally {
                    connecting = handed;
                    if (!handed) {
                        wanted.clear();
                    }
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the attempt to make that connection has ended, or the time is over. An interrupt waits for the caller. */
    private void awaitAttempt(int index, long deadlineNs) {
        boolean interrupted = false;
        lock.lock();
        try {
            while (!closed && (underWay == index || wanted.get(index))) {
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

    /** The task that connects: ends when no caller needs a connection any more. */
    private void connectWanted() {
        boolean orderly = false;
        try {
            for (int index = takeWanted(); index != NONE; index = takeWanted()) {
                NetConnection connection = null;
                try {
                    connection = connector.connect(address, () -> closed);
                } catch (IOException | IllegalArgumentException e) {
                    failed(String.valueOf(e.getMessage()));
                } catch (RuntimeException | Error e) {
                    LOG.error("Connecting to {} met an error", address, e);
                    failed(String.valueOf(e));
                }
                if (connection != null) {
                    connected(index, connection); // not above: an error behind this is no failure to connect
                }
            }
            orderly = true;
        } finally {
            if (!orderly) {
                abandonTask();
            }
        }
    }

    /** The connection to make next; {@link #NONE}: the task is over. */
    private int takeWanted() {
        final List<Runnable> actions;
        lock.lock();
        try {
            for (int i = wanted.nextSetBit(0); i >= 0 && !closed; i = wanted.nextSetBit(i)) {
                wanted.clear(i);
                if (presentAt(i) == null) {
                    underWay = i;
                    return i;
                }
            }
            actions = endTask();
        } finally {
            lock.unlock();
        }
        runAll(actions);
        return NONE;
    }

    private void connected(int index, NetConnection connection) {
        final boolean unneeded;
        final List<Runnable> actions;
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
            actions = endAttempt();
        } finally {
            lock.unlock();
        }
        if (unneeded) {
            connection.fail(new IOException(CLOSED));
        }
        runAll(actions);
    }

    private void failed(String text) {
        final String why = text.contains(address) ? text : address + ": " + text;
        final List<Runnable> actions;
        lock.lock();
        try {
            if (!closed) {
                backOffNs = Math.min(MAX_BACK_OFF_NS, Math.max(FIRST_BACK_OFF_NS, 2 * backOffNs));
                nextAttemptNs = clock.nanoTime() + backOffNs;
                if (!why.equals(lastFailure)) {
                    LOG.warn("A server cannot be reached: {}", why);
                }
                lastFailure = why;
            }
            wanted.clear(); // the others' attempts would be as early as one more of this
            actions = endAttempt();
        } finally {
            lock.unlock();
        }
        runAll(actions);
    }

    /** An error ended the task: the next caller starts another one. */
    private void abandonTask() {
        final List<Runnable> actions;
        lock.lock();
        try {
            actions = endTask();
        } finally {
            lock.unlock();
        }
        runAll(actions);
    }

    /** With the lock. */
    private List<Runnable> endTask() {
        connecting = false;
        wanted.clear();
        return endAttempt();
    }

    /** With the lock: all that wait for the attempt look again. Returns what to run without the lock. */
    private List<Runnable> endAttempt() {
        underWay = NONE;
        attemptEnded.signalAll();
        final List<Runnable> actions = awaitingConnection;
        awaitingConnection = new ArrayList<>();
        return actions;
    }

    /** An error of an action is its own: the others run, and the task goes on. */
    private void runAll(List<Runnable> actions) {
        for (Runnable action : actions) {
            try {
                action.run();
            } catch (RuntimeException | Error e) {
                LOG.error("An action that waited for a connection to {} failed", address, e);
            }
        }
    }

    /** Breaks every connection; none is made any more. Waits for no attempt: one that is under way ends soon, and in vain. */
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
