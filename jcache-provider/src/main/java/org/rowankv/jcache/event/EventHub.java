package org.rowankv.jcache.event;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.cache.event.CacheEntryListenerException;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;

/**
 * Where all openings of one cache in this JVM, of whatever manager and class loader, meet: an operation of any of them is
 * told to the listeners of all.
 *
 * <p>Guarantees: events of one key are told in the order of its versions; synchronous listeners have run when the
 * operation returns, unless it was made inside a callback while another thread was telling of the same key; no lock is
 * held while a listener runs. Not told: what other JVMs do, what {@code clear} removes, and expiries that no operation of
 * this JVM meets. Thread-safe.
 */
public final class EventHub {
    private record LaneKey(byte[] key) {
        @Override
        public boolean equals(Object other) {
            return other instanceof LaneKey that && Arrays.equals(key, that.key);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(key);
        }
    }

    private final List<Subscription<?, ?>> subscriptions = new CopyOnWriteArrayList<>();
    private final Map<LaneKey, Lane> lanes = new ConcurrentHashMap<>();
    private final CallbackThreads callbacks;
    private volatile int interest;

    public EventHub(CallbackThreads callbacks) {
        this.callbacks = callbacks;
    }

    /** Begins to tell the subscription of operations that start from now on. */
    public synchronized void subscribe(Subscription<?, ?> subscription) {
        subscriptions.add(subscription);
        refreshInterest();
    }

    public synchronized void unsubscribe(Subscription<?, ?> subscription) {
        subscriptions.remove(subscription);
        refreshInterest();
    }

    private void refreshInterest() {
        int all = 0;
        for (Subscription<?, ?> subscription : subscriptions) {
            all |= subscription.interest();
        }
        interest = all;
    }

    /** Carries out a request and tells the listeners what it did; with no interested listener, only the former. */
    public void execute(RowanClient client, Request request) {
        final int wanted = interest & Interest.of(request.operation());
        if ((wanted & Interest.ALL_EVENTS) == 0) {
            client.execute(request);
            return;
        }
        if ((wanted & Interest.OLD_VALUE) != 0) {
            request.wantValue(true);
        }
        executeInOrder(client, request);
    }

    /**
     * As {@link #execute} for each of them: all at once as long as no listener is interested, else one after the other. They
     * are of one operation.
     */
    public void executeAll(RowanClient client, List<Request> requests) {
        if (requests.isEmpty()) {
            return;
        }
        if ((interest & Interest.of(requests.get(0).operation()) & Interest.ALL_EVENTS) == 0) {
            client.executeAll(requests);
        } else {
            requests.forEach(request -> execute(client, request));
        }
    }

    private void executeInOrder(RowanClient client, Request request) {
        final LaneKey key = new LaneKey(
                Arrays.copyOfRange(request.key(), request.keyOffset(), request.keyOffset() + request.keyLength()));
        final Lane lane = lanes.compute(key, (k, present) -> (present == null ? new Lane() : present).used());
        try {
            final Notification expiry;
            final Notification change;
            lane.order().lock();
            try {
                client.execute(request);
                expiry = Notification.ofExpiry(request);
                change = Notification.ofChange(request);
                if (expiry != null) {
                    lane.add(expiry);
                }
                if (change != null) {
                    lane.add(change);
                }
            } finally {
                lane.order().unlock();
            }
            tell(lane, expiry, change);
        } finally {
            lanes.computeIfPresent(key, (k, present) -> present.released() ? null : present);
        }
    }

    private void tell(Lane lane, @Nullable Notification expiry, @Nullable Notification change) {
        final Notification last = change != null ? change : expiry;
        if (last == null) {
            return;
        }
        final boolean mayWait = !callbacks.isCurrentInside();
        for (Notification next = lane.nextOrAwait(last, mayWait);
                next != null;
                next = lane.nextOrAwait(last, mayWait)) {
            Throwable failure = new IllegalStateException("the telling of an event was cut short");
            try {
                failure = tell(next);
            } finally {
                lane.told(next, failure);
            }
        }
        throwFailure(expiry);
        throwFailure(change);
    }

    /** The first failure of a synchronous listener, with the others suppressed in it, or null. */
    private @Nullable Throwable tell(Notification notification) {
        Throwable first = null;
        callbacks.enter();
        try {
            for (Subscription<?, ?> subscription : subscriptions) {
                final Throwable failure = subscription.offer(notification);
                if (first == null) {
                    first = failure;
                } else if (failure != null && failure != first) {
                    first.addSuppressed(failure);
                }
            }
        } finally {
            callbacks.exit();
        }
        return first;
    }

    private static void throwFailure(@Nullable Notification notification) {
        final Throwable failure = notification == null ? null : notification.failure();
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof CacheEntryListenerException exception) {
            throw exception;
        }
        if (failure != null) {
            throw new CacheEntryListenerException("a listener failed; the operation itself took effect", failure);
        }
    }
}
