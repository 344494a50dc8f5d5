package org.rowankv.driver.net;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.driver.api.StreamPosition;
import org.rowankv.driver.session.RetrySchedule;
import org.rowankv.driver.stream.ChangeCursor;
import org.rowankv.driver.stream.NetSubscription;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.ChangesRequestDescriptor;

/**
 * The change streams of a session. While there is a subscription, a thread per server asks that server, on a connection of its own, for
 * what has changed in all shards whose primary it is; the positions are kept here, so nothing is lost with a connection. Thread-safe.
 */
final class NetChanges {
    private final NetSession session;

    private final List<NetSubscription> subscriptions = new CopyOnWriteArrayList<>();
    // --- guarded by this ---
    private final Map<String, ChangePoller> pollers = new HashMap<>();
    private boolean closed;

    NetChanges(NetSession session) {
        this.session = session;
    }

    /**
     * Begins to tell. From now on, unless a position is given: what operations do that begin after this returned is told, with its
     * old value if that is wanted. If a server cannot be reached in an attempt's time, its shards begin later, with a loss; or if a position is given,
     * some old values may be missing.
     */
    ChangeSubscription subscribe(
            int cacheId, boolean oldValues, @Nullable StreamPosition from, ChangeListener listener) {
        final Route now = session.route();
        final int shardCount = now.configuration().shardCount();
        if (from != null && from.shardCount() != shardCount) {
            throw new IllegalArgumentException(
                    "a position in " + from.shardCount() + " shards; this store has " + shardCount);
        }
        session.requireOpen();
        final NetSubscription subscription =
                new NetSubscription(cacheId, shardCount, oldValues, from, listener, this::unsubscribe);
        begin(subscription);
        subscriptions.add(subscription);
        startPollers();
        for (ChangePoller poller : pollers()) {
            poller.nudge();
        }
        return subscription;
    }

    private void unsubscribe(NetSubscription subscription) {
        subscriptions.remove(subscription);
    }

    /** Tells the servers what is wanted, and finds out where those begin that begin now. */
    private void begin(NetSubscription subscription) {
        final long beginNs = session.clock().nanoTime();
        final long deadlineNs = beginNs + session.settings().attemptNs();
        final RetrySchedule schedule = new RetrySchedule(session, session.clock());
        schedule.begin(beginNs, deadlineNs + session.settings().attemptNs()); // it tries again for half of that
        while (true) {
            final Route now = session.route();
            for (ServerLink link : now.links()) {
                final List<ChangeCursor> own = subscription.cursors().stream()
                        .filter(cursor -> !cursor.isBegun() && now.primaryOf(cursor.shard()) == link)
                        .toList();
                for (int i = 0; i < own.size(); i += ChangesRequestDescriptor.MAX_SECTIONS) {
                    final ChangesRequest question = ChangesRequest.fromNow(
                            now.term(),
                            own.subList(i, Math.min(own.size(), i + ChangesRequestDescriptor.MAX_SECTIONS)));
                    if (session.ask(link, deadlineNs, question)) {
                        question.sections()
                                .forEach(section -> question.cursor(section).begin(section));
                    }
                }
            }
            if (subscription.cursors().stream().allMatch(ChangeCursor::isBegun)) {
                return;
            }
            session.requireOpen();
            final long pauseNs = schedule.afterAnswer(Status.UNREACHABLE);
            if (pauseNs == RetrySchedule.NEVER) {
                subscription.cursors().forEach(ChangeCursor::beginLate);
                return;
            }
            RetrySchedule.pause(pauseNs);
        }
    }

    // --- the threads ---

    private synchronized List<ChangePoller> pollers() {
        return new ArrayList<>(pollers.values());
    }

    /** There is a thread for each server that is a primary, if anybody is subscribed. */
    synchronized void startPollers() {
        if (closed || subscriptions.isEmpty()) {
            return;
        }
        final Route now = session.route();
        for (ServerLink link : now.links()) {
            if (!link.address().isEmpty() && now.isPrimary(link)) {
                pollers.computeIfAbsent(link.address(), address -> new ChangePoller(address, session, this))
                        .start();
            }
        }
    }

    /**
     * Whether the thread has nothing to do any more: then it is no longer one of those, and ends. Each thread looks here after each
     * question, so primaries that a newer configuration names have threads soon, however the session learned of it.
     */
    synchronized boolean isOver(ChangePoller poller) {
        final Route now = session.route();
        final boolean needed =
                now.links().stream().anyMatch(link -> link.address().equals(poller.address()) && now.isPrimary(link));
        final boolean over = closed || !needed || subscriptions.isEmpty();
        if (over) {
            pollers.remove(poller.address(), poller);
        }
        startPollers(); // of those that have what it had
        return over;
    }

    /** What is to be asked of the server with that address. */
    List<ChangeCursor> cursorsAt(String address, Route route) {
        final List<ChangeCursor> cursors = new ArrayList<>();
        for (NetSubscription subscription : subscriptions) {
            for (ChangeCursor cursor : subscription.cursors()) {
                if (!cursor.isOver()
                        && route.primaryOf(cursor.shard()).address().equals(address)
                        && cursors.size() < ChangesRequestDescriptor.MAX_SECTIONS) {
                    cursors.add(cursor);
                }
            }
        }
        return cursors;
    }

    /** Ends all of it; no listener is called any more when this returns, unless it is called by one. */
    void close() {
        final List<ChangePoller> running;
        synchronized (this) {
            closed = true;
            running = new ArrayList<>(pollers.values());
        }
        running.forEach(ChangePoller::close);
        running.forEach(ChangePoller::join);
    }
}
