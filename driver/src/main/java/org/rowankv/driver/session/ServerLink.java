package org.rowankv.driver.session;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections to one server: made when they are wanted, and made again when they broke, not too often. Callers are spread
 * over them by thread. Thread-safe.
 */
final class ServerLink {
    private static final Logger LOG = LoggerFactory.getLogger(ServerLink.class);
    private static final long FIRST_BACK_OFF_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long MAX_BACK_OFF_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final String address;
    private final long clusterId;
    private final NetSettings settings;
    private final Clock clock;
    private final Consumer<byte[]> onRouting;
    private final AtomicReferenceArray<@Nullable NetConnection> connections;
    private final ReentrantLock connecting = new ReentrantLock();
    // --- guarded by the lock ---
    private long backOffNs;
    private long nextAttemptNs;
    private boolean closed;

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
            if (closed || address.isEmpty() || backOffNs > 0 && nowNs - nextAttemptNs < 0) {
                return null;
            }
            try {
                final NetConnection connection = Handshake.connect(address, clusterId, settings, clock, onRouting);
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
