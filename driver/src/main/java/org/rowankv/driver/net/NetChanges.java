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
 * The change streams of a session. While subscriptions exist, a thread per server polls it, on a connection of its own,
 * for changes in all shards whose primary it is. Positions are kept here, so a lost connection loses no changes.
 * Thread-safe.
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
     * Subscribes, from now on unless a position is given: every operation that begins after this returns is delivered,
     * with old values if requested. If a server is unreachable for the time of an attempt, its shards start later, with
     * a loss. If a position is given, some old values may then be missing.
     */
    ChangeSubscription subscribe(
            int cacheId, boolean oldValues, @Nullable StreamPosition from, ChangeListener listener) {
        final Route now = session.route();
        final int shardCount = now.configuration().shardCount();
        if (from != null && from.shardCount() != shardCount) {
            throw new IllegalArgumentException(
                    "the position has " + from.shardCount() + " shards, this store " + shardCount);
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

    /** Registers the interest at the servers, and resolves the positions of cursors that start now. */
    private void begin(NetSubscription subscription) {
        final long deadlineNs = session.clock().nanoTime() + session.settings().attemptNs();
        final RetrySchedule schedule = new RetrySchedule(session, session.clock());
        schedule.begin(deadlineNs);
        while (true) {
            final Route now = session.route();
            for (ServerLink link : now.links()) {
                final List<ChangeCursor> own = subscription.cursors().stream()
                        .filter(cursor -> !cursor.isBegun() && now.primaryOf(cursor.shard()) == link)
                        .toList();
                for (int i = 0; i < own.size(); i += ChangesRequestDescriptor.MAX_SECTIONS) {
                    final ChangesRequest changesRequest = ChangesRequest.fromNow(
                            now.term(),
                            own.subList(i, Math.min(own.size(), i + ChangesRequestDescriptor.MAX_SECTIONS)));
                    if (session.send(link, now, deadlineNs, changesRequest)) {
                        changesRequest
                                .sections()
                                .forEach(section ->
                                        changesRequest.cursor(section).begin(section));
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

    /** A newer configuration is known: every poller asks by it. */
    void rerouted() {
        pollers().forEach(ChangePoller::rerouted);
    }

    private synchronized List<ChangePoller> pollers() {
        return new ArrayList<>(pollers.values());
    }

    /** Ensures a thread for each server that is a primary, if there are subscriptions. */
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
     * Whether the thread has nothing left to do; if so, removes it. Each thread calls this after each request, so
     * primaries of a newer configuration get threads soon, however the session received it.
     */
    synchronized boolean isOver(ChangePoller poller) {
        final Route now = session.route();
        final boolean needed =
                now.links().stream().anyMatch(link -> link.address().equals(poller.address()) && now.isPrimary(link));
        final boolean over = closed || !needed || subscriptions.isEmpty();
        if (over) {
            pollers.remove(poller.address(), poller);
        }
        startPollers(); // of the servers that took over its shards
        return over;
    }

    /** The cursors to request from the server with that address. */
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

    /** Ends all streams. After it returns no listener is called, unless a listener calls this. */
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
