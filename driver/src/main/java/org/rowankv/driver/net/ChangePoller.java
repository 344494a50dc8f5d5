package org.rowankv.driver.net;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.driver.stream.ChangeCursor;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.rowankv.runtime.concurrent.DetachedThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Poller of one server's changes, on a thread and connection of its own, so that callers do not wait for listeners. It
 * retries failed requests later.
 */
final class ChangePoller implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ChangePoller.class);
    /** Long-poll timeout: the server responds by then without changes. */
    private static final int WAIT_MS = 2_000;

    private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MAX_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final String address;
    private final NetSession session;
    private final NetChanges changes;
    private final ServerLink link;
    private final Thread thread;
    private volatile boolean closed;
    private boolean started;
    private long pauseNs;

    ChangePoller(String address, NetSession session, NetChanges changes) {
        this.address = address;
        this.session = session;
        this.changes = changes;
        this.link = session.streamLink(
                address,
                TimeUnit.MILLISECONDS.toNanos(WAIT_MS) + session.settings().silenceNs());
        this.thread = DetachedThread.of(this, "rowan-changes-" + address);
    }

    String address() {
        return address;
    }

    /** Starts the thread once. Called under the lock of {@link NetChanges}. */
    void start() {
        if (!started) {
            thread.start();
            started = true; // after start(), which may fail for lack of threads
        }
    }

    @Override
    public void run() {
        try {
            boolean over = false;
            while (!over) {
                over = closed || pollOnce();
            }
        } finally {
            link.close();
        }
    }

    /** An error ends no stream: no other thread requests these changes. */
    private boolean pollOnce() {
        try {
            if (changes.isOver(this)) {
                return true;
            }
            if (poll()) {
                pauseNs = 0;
                return false;
            }
        } catch (RuntimeException | Error e) {
            LOG.error("ROWAN-1001 Change request failed; retrying address={}", address, e);
        }
        pause();
        return false;
    }

    /** Sends one request, which ends with the configuration; returns whether the next one may follow at once. */
    private boolean poll() {
        final Route route = session.route();
        final List<ChangeCursor> cursors = changes.cursorsAt(address, route);
        if (cursors.isEmpty()) {
            return false;
        }
        final long deadlineNs = session.clock().nanoTime()
                + TimeUnit.MILLISECONDS.toNanos(WAIT_MS)
                + session.settings().attemptNs();
        final ChangesRequest changesRequest = new ChangesRequest(route.term(), WAIT_MS, cursors);
        boolean allServed = session.send(link, route, deadlineNs, changesRequest);
        for (Section section : changesRequest.sections()) {
            allServed &= changesRequest.cursor(section).take(section);
        }
        if (!allServed && !closed) {
            session.seek(route.term());
        }
        return allServed;
    }

    private void pause() {
        pauseNs = Math.min(MAX_PAUSE_NS, Math.max(FIRST_PAUSE_NS, 2 * pauseNs));
        final boolean interrupted = Thread.interrupted();
        LockSupport.parkNanos(this, pauseNs);
        if (interrupted) {
            LOG.debug("Interrupt ignored: only closing the client ends a change stream");
        }
    }

    /** Ends the long poll, so that new cursors are requested at once. */
    void nudge() {
        LockSupport.unpark(thread);
        if (link.present() != null) {
            final Route route = session.route();
            final long deadlineNs =
                    session.clock().nanoTime() + session.settings().attemptNs();
            // Empty: it ends the long poll before it.
            final boolean unused =
                    session.send(link, route, deadlineNs, new ChangesRequest(route.term(), 0, List.of()));
        }
    }

    /** A newer configuration is known: ends the wait for the response, and a pause. */
    void rerouted() {
        link.rerouted();
        LockSupport.unpark(thread);
    }

    void close() {
        closed = true;
        link.close();
        LockSupport.unpark(thread);
    }

    /** Waits for the end of the thread, unless it is the caller. */
    void join() {
        if (Thread.currentThread() == thread) {
            return;
        }
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
