package org.rowankv.driver.session;

import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections to one server: made when they are wanted, and made again when they broke, not too often. Callers are spread
 * over them by thread. Callers that do not wait share one thread per server that connects and inquires for all of them, so that
 * a server that does not answer delays no other. Thread-safe.
 */
final class ServerLink {
    private static final Logger LOG = LoggerFactory.getLogger(ServerLink.class);
    private static final long FIRST_BACK_OFF_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long MAX_BACK_OFF_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long INQUIRY_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final String address;
    private final long clusterId;
    private final NetSettings settings;
    private final Clock clock;
    private final Consumer<byte[]> onRouting;
    private final AtomicReferenceArray<@Nullable NetConnection> connections;
    private final ReentrantLock connecting = new ReentrantLock();
    // --- guarded by the lock ---
    private volatile long backOffNs;
    private volatile long nextAttemptNs;
    private volatile boolean closed;
    // --- end of what the lock guards ---

    /** There while it has something to do. At most one task of each kind is under way or waits. */
    private final ThreadPoolExecutor background;

    /** Run when an attempt to connect has ended, well or not. */
    private final Queue<Runnable> awaitingConnection = new ConcurrentLinkedQueue<>();

    private final AtomicBoolean connectingSoon = new AtomicBoolean();
    private final AtomicBoolean inquiring = new AtomicBoolean();
    private volatile long nextInquiryNs;

    private final OwnedCounter made = new OwnedCounter();
    private final OwnedCounter madeAgain = new OwnedCounter();
    private volatile String lastFailure = "";

    ServerLink(String address, long clusterId, NetSettings settings, Clock clock, Consumer<byte[]> onRouting) {
        this.address = address;
        this.clusterId = clusterId;
        this.settings = settings;
        this.clock = clock;
        this.onRouting = onRouting;
        this.connections = new AtomicReferenceArray<>(settings.connectionsPerServer());
        this.nextInquiryNs = clock.nanoTime();
        this.background = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            final Thread made = new Thread(task, "rowan-client-link");
            made.setDaemon(true);
            return made;
        });
        background.allowCoreThreadTimeOut(true);
    }

    String address() {
        return address;
    }

    /** Why it could not be reached the last time; empty if it could. */
    String lastFailure() {
        return lastFailure;
    }

    /** Connections made since the beginning. */
    long made() {
        return made.get();
    }

    /** Of those, the ones in the place of one that had broken. */
    long madeAgain() {
        return madeAgain.get();
    }

    /** The calling thread's connection; null if there is none to be had now. */
    @Nullable
    NetConnection connection(long deadlineNs) {
        final int index = index();
        final NetConnection present = connections.get(index);
        return present != null && !present.isBroken() ? present : connect(index, deadlineNs);
    }

    private int index() {
        final long id = Thread.currentThread().getId();
        // Thread ids that follow each other, and those of which every second one calls, are spread alike.
        return (int) ((id ^ id >>> 1) % connections.length());
    }

    /** The calling thread's connection, if it is made already; else null. */
    @Nullable
    NetConnection present() {
        final NetConnection present = connections.get(index());
        return present != null && !present.isBroken() ? present : null;
    }

    /**
     * As {@link #present}, or another thread's connection; null if there is none. What is missing is being made from now on, unless an
     * attempt failed a moment ago.
     */
    @Nullable
    NetConnection presentOrSoon() {
        final int own = index();
        for (int i = 0; i < connections.length(); i++) {
            final NetConnection each = connections.get((own + i) % connections.length());
            if (each != null && !each.isBroken()) {
                return each;
            }
            if (i == 0) {
                connectSoon(own);
            }
        }
        return null;
    }

    /**
     * Runs the action once, when the next attempt to connect has ended. A caller that looks for a connection once more after this
     * misses none.
     */
    void whenConnected(Runnable action) {
        awaitingConnection.add(action);
    }

    private void connectSoon(int index) {
        if (!isTooEarly(clock.nanoTime())) {
            inBackground(connectingSoon, () -> {
                final NetConnection unused = connect(index, clock.nanoTime() + settings.connectNs());
            });
        }
    }

    /**
     * Runs the inquiry soon, on the thread of this link, unless one is under way or was begun a moment ago.
     *
     * @param inquiry with the time at which it gives up
     */
    void inquireSoon(ObjLongConsumer<ServerLink> inquiry) {
        final long nowNs = clock.nanoTime();
        if (nowNs - nextInquiryNs >= 0) {
            inBackground(inquiring, () -> {
                final long beginNs = clock.nanoTime();
                nextInquiryNs = beginNs + INQUIRY_PAUSE_NS;
                inquiry.accept(this, beginNs + settings.connectNs());
            });
        }
    }

    private void inBackground(AtomicBoolean busy, Runnable task) {
        if (closed || address.isEmpty() || !busy.compareAndSet(false, true)) {
            return;
        }
        boolean handed = false;
        try {
            background.execute(() -> {
                try {
                    task.run();
                } finally {
                    busy.set(false);
                }
            });
            handed = true;
        } finally {
            if (!handed) {
                busy.set(false);
            }
        }
    }

    private boolean isTooEarly(long nowNs) {
        return backOffNs > 0 && nowNs - nextAttemptNs < 0;
    }

    private @Nullable NetConnection connect(int index, long deadlineNs) {
        if (!lock(deadlineNs)) {
            return null;
        }
        try {
            final NetConnection present = connections.get(index);
            if (present != null && !present.isBroken()) {
                return present;
            }
            final long nowNs = clock.nanoTime();
            if (closed || address.isEmpty() || isTooEarly(nowNs) || nowNs - deadlineNs >= 0) {
                return null;
            }
            try {
                final NetConnection connection = 
                        Handshake.connect(address, clusterId, settings, clock, deadlineNs, onRouting);
                connections.set(index, connection);
                backOffNs = 0;
                lastFailure = "";
                made.add(1);
                madeAgain.add(present == null ? 0 : 1);
                return connection;
            } catch (IOException | IllegalArgumentException e) {
                backOffNs = Math.min(MAX_BACK_OFF_NS, Math.max(FIRST_BACK_OFF_NS, 2 * backOffNs));
                nextAttemptNs = clock.nanoTime() + backOffNs;
                final String text = String.valueOf(e.getMessage());
                final String why = text.contains(address) ? text : address + ": " + text;
                if (!why.equals(lastFailure)) {
                    LOG.warn("A server cannot be reached: {}", why);
                }
                lastFailure = why;
                return null;
            } finally {
                for (Runnable next = awaitingConnection.poll(); next != null; next = awaitingConnection.poll()) {
                    next.run();
                }
            }
        } finally {
            connecting.unlock();
        }
    }

    private boolean lock(long deadlineNs) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return connecting.tryLock(deadlineNs - clock.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Breaks every connection; none is made any more. */
    void close() {
        connecting.lock();
        try {
            closed = true;
            for (int i = 0; i < connections.length(); i++) {
                final NetConnection connection = connections.get(i);
                if (connection != null) {
                    connection.fail(new IOException("the client was closed"));
                }
            }
        } finally {
            connecting.unlock();
        }
    }
}
