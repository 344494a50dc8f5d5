package org.rowankv.jcache.event;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import javax.cache.event.CacheEntryListenerException;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;

/**
 * Where all openings of one cache in this JVM, of whatever manager and class loader, meet: an operation of any of them is
 * told to the listeners of all.
 *
 * <p>Guarantees: events of one key are told in the order of its versions; synchronous listeners have run when the
 * operation returns, unless it was made inside a callback while another thread was telling of the same key; no lock is
 * held while a listener runs. Over a store that streams changes, listeners are also told of what is not done by this JVM's
 * operations: asynchronously, whatever they are, each once, in the order of a key's versions among themselves; or they are told that
 * such events are lost. Not told: what {@code clear} removes. Thread-safe.
 */
public final class EventHub {
    private final List<Subscription<?, ?>> subscriptions = new CopyOnWriteArrayList<>();
    private final Map<KeyBytes, KeyEventQueue> lanes = new ConcurrentHashMap<>();
    private final CallbackThreads callbacks;
    private final RowanClient client;
    /** Null: the store has no others, or does not tell of them. */
    private final @Nullable RemoteChangeFeed others;

    private volatile int interest;

    /** @param client by which the cache with that id is reached */
    public EventHub(CallbackThreads callbacks, RowanClient client, int cacheId) {
        this(callbacks, client, cacheId, new DeliveredChanges());
    }

    /** @param told where operations note what they tell */
    EventHub(CallbackThreads callbacks, RowanClient client, int cacheId, DeliveredChanges told) {
        this.callbacks = callbacks;
        this.client = client;
        this.others = client.streamsChanges() ? new RemoteChangeFeed(client, cacheId, this, told) : null;
    }

    /** Begins to tell the subscription of operations that start from now on. */
    public synchronized void subscribe(Subscription<?, ?> subscription) {
        if (others != null && (subscription.interest() & Interest.ALL_EVENTS) != 0) {
            // First: what an operation tells listeners of must be in the stream, too.
            others.begin((subscription.interest() & Interest.OLD_VALUE) != 0);
        }
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
        if (others != null && (all & Interest.ALL_EVENTS) == 0) {
            others.end();
        }
    }

    /** Whether a listener wants to hear of what the operation may cause: then its requests go through {@link #execute}. */
    public boolean isInterestedIn(Operation operation) {
        final int wanted = interest;
        return wanted != 0 && (wanted & Interest.of(operation) & Interest.ALL_EVENTS) != 0;
    }

    /** Carries out a request and tells the listeners what it did. */
    public void execute(Request request) {
        if ((interest & Interest.OLD_VALUE) != 0) {
            request.requestValue(true);
        }
        final KeyBytes key = new KeyBytes(
                Arrays.copyOfRange(request.key(), request.keyOffset(), request.keyOffset() + request.keyLength()));
        final KeyEventQueue lane = enter(key);
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
                if (others != null) {
                    others.tells(request, expiry, change);
                }
            } finally {
                lane.order().unlock();
            }
            tell(lane, expiry, change);
        } finally {
            leave(key);
        }
    }

    private KeyEventQueue enter(KeyBytes key) {
        return lanes.compute(key, (k, present) -> (present == null ? new KeyEventQueue() : present).used());
    }

    private void leave(KeyBytes key) {
        lanes.computeIfPresent(key, (k, present) -> present.released() ? null : present);
    }

    /**
     * A change of the stream has been committed, perhaps by an operation of this JVM that is under way.
     *
     * @param told asked once no operation of this JVM on that key is under way
     */
    void deliverFromStream(Change change, BooleanSupplier told) {
        final KeyBytes key = new KeyBytes(change.key());
        final KeyEventQueue lane = enter(key);
        try {
            // An operation that is under way on this key may be the one that did it: it knows once it has its answer.
            lane.order().lock();
            try {
                if (!told.getAsBoolean()) {
                    final Notification notification = Notification.ofStream(change);
                    subscriptions.forEach(subscription -> subscription.offerLater(notification));
                }
            } finally {
                lane.order().unlock();
            }
        } finally {
            leave(key);
        }
    }

    /** The stream has lost changes. */
    void reportLoss() {
        subscriptions.forEach(Subscription::lose);
    }

    private void tell(KeyEventQueue lane, @Nullable Notification expiry, @Nullable Notification change) {
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
