package org.rowankv.driver.net;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.driver.stream.ChangeCursor;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks one server for changes, again and again, and tells them: on a thread and a connection of its own, so that callers do not wait for
 * listeners. What cannot be had now is asked for again later.
 */
final class ChangePoller implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ChangePoller.class);
    /** The server answers then, if there was nothing to say. */
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
        this.link = session.streamLink(address);
        this.thread = new Thread(this, "rowan-changes-" + address);
        this.thread.setDaemon(true);
    }

    String address() {
        return address;
    }

    /** Once; by whoever made it. */
    void start() {
        if (!started) {
            thread.start();
            started = true; // not before: the machine may have no thread to give
        }
    }

    @Override
    public void run() {
        try {
            boolean over = false;
            while (!over) {
                over = closed || isOverAfterATurn();
            }
        } finally {
            link.close();
        }
    }

    /** An error ends no stream: no other thread asks for these changes. */
    private boolean isOverAfterATurn() {
        try {
            if (changes.isOver(this)) {
                return true;
            }
            if (poll()) {
                pauseNs = 0;
                return false;
            }
        } catch (RuntimeException | Error e) {
            LOG.error("A question for changes to {} met an error; the next one follows", address, e);
        }
        rest();
        return false;
    }

    /** Asks once; whether it is to be asked again at once. */
    private boolean poll() {
        final Route route = session.route();
        final List<ChangeCursor> cursors = changes.cursorsAt(address, route);
        if (cursors.isEmpty()) {
            return false;
        }
        final long nowNs = session.clock().nanoTime();
        final long deadlineNs = nowNs
                + TimeUnit.MILLISECONDS.toNanos(WAIT_MS)
                + session.settings().attemptNs();
        final NetConnection connection =
                link.connection(nowNs + session.settings().connectNs());
        final ChangesRequest question = new ChangesRequest(route.term(), WAIT_MS, cursors);
        if (connection == null || !NetSession.ask(connection, deadlineNs, question)) {
            if (connection != null && connection.isSilent(nowNs, deadlineNs, deadlineNs - nowNs)) {
                connection.fail(new IOException("nothing was heard for too long"));
            }
            lookElsewhere(route);
            return false;
        }
        boolean well = true;
        for (Section section : question.sections()) {
            well &= question.cursor(section).take(section);
        }
        if (!well) {
            lookElsewhere(route);
        }
        return well;
    }

    private void lookElsewhere(Route tried) {
        if (!closed && session.route().term() <= tried.term()) {
            session.refresh(
                    tried.term(),
                    session.clock().nanoTime() + session.settings().connectNs());
        }
        changes.startPollers();
    }

    private void rest() {
        pauseNs = Math.min(MAX_PAUSE_NS, Math.max(FIRST_PAUSE_NS, 2 * pauseNs));
        final boolean interrupted = Thread.interrupted();
        LockSupport.parkNanos(this, pauseNs);
        if (interrupted) {
            LOG.debug("An interrupt does not end a change stream; closing the client does");
        }
    }

    /** There is more to ask for: what is asked now is answered at once. */
    void nudge() {
        LockSupport.unpark(thread);
        final NetConnection connection = link.present();
        if (connection != null) {
            final long deadlineNs =
                    session.clock().nanoTime() + session.settings().attemptNs();
            // Of no section: the server answers what it was asked before, and this.
            final boolean unused = NetSession.ask(
                    connection, deadlineNs, new ChangesRequest(session.route().term(), 0, List.of()));
        }
    }

    void close() {
        closed = true;
        link.close();
        LockSupport.unpark(thread);
    }

    /** Waits until the thread has ended, unless it is the caller's. */
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
