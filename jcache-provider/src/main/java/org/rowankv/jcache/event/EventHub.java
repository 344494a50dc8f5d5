package org.rowankv.jcache.event;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import javax.cache.event.CacheEntryListenerException;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;

/**
 * Event hub of all open caches in this JVM that share one cache of the store, whatever their manager and class loader:
 * it delivers each operation's events to the listeners of all of them.
 *
 * <p>Guarantees: events of one key arrive in the order of its versions. Synchronous listeners have run when the
 * operation returns, unless it ran inside a callback while another thread was delivering events of the same key. No
 * lock is held while a listener runs. If the store streams changes, listeners also receive changes made outside this
 * JVM: always asynchronously, each once, in the order of a key's versions among themselves; or a report of their loss.
 * {@code clear} causes no events.
 *
 * <p>References subscriptions weakly: each lives with the open cache that it is of. So an application that ends without
 * closing its caches is not kept by other applications that have the same cache open. Thread-safe.
 */
public final class EventHub {
    /** Held while a change stream begins or ends. */
    private final ReentrantLock subscribing = new ReentrantLock();

    private final List<WeakReference<Subscription<?, ?>>> subscriptions = new CopyOnWriteArrayList<>();
    private final Map<KeyBytes, KeyEventQueue> queues = new ConcurrentHashMap<>();
    private final CallbackThreads callbacks;
    private final RowanClient client;
    /** Null if the store has no changes of other JVMs, or does not stream them. */
    private final @Nullable RemoteChangeFeed remoteChanges;

    private volatile int interest;

    /** @param client of the store that contains the cache with that id */
    public EventHub(CallbackThreads callbacks, RowanClient client, int cacheId) {
        this(callbacks, client, cacheId, new DeliveredChanges());
    }

    /** @param delivered record of the changes that operations deliver */
    EventHub(CallbackThreads callbacks, RowanClient client, int cacheId, DeliveredChanges delivered) {
        this.callbacks = callbacks;
        this.client = client;
        this.remoteChanges = client.streamsChanges() ? new RemoteChangeFeed(client, cacheId, this, delivered) : null;
    }

    /** Delivers events of operations that start from now on. */
    public void subscribe(Subscription<?, ?> subscription) {
        subscribing.lock();
        try {
            if (remoteChanges != null && (subscription.interest() & Interest.ALL_EVENTS) != 0) {
                // First: the stream must contain every change that an operation delivers.
                remoteChanges.begin((subscription.interest() & Interest.OLD_VALUE) != 0);
            }
            subscriptions.add(new WeakReference<>(subscription));
            refreshInterest();
        } finally {
            subscribing.unlock();
        }
    }

    public void unsubscribe(Subscription<?, ?> subscription) {
        subscribing.lock();
        try {
            subscriptions.removeIf(each -> each.refersTo(subscription));
            refreshInterest();
        } finally {
            subscribing.unlock();
        }
    }

    private void refreshInterest() {
        subscriptions.removeIf(each -> each.refersTo(null));
        int all = 0;
        for (Subscription<?, ?> subscription : present()) {
            all |= subscription.interest();
        }
        interest = all;
        if (remoteChanges != null && (all & Interest.ALL_EVENTS) == 0) {
            remoteChanges.end();
        }
    }

    private List<Subscription<?, ?>> present() {
        final List<Subscription<?, ?>> present = new ArrayList<>(subscriptions.size());
        for (WeakReference<Subscription<?, ?>> each : subscriptions) {
            final Subscription<?, ?> subscription = each.get();
            if (subscription != null) {
                present.add(subscription);
            }
        }
        return present;
    }

    /** Whether a listener is registered for events of the operation: then its requests go through {@link #execute}. */
    public boolean isInterestedIn(Operation operation) {
        final int registered = interest;
        return registered != 0 && (registered & Interest.of(operation) & Interest.ALL_EVENTS) != 0;
    }

    /** Executes a request and delivers its events. */
    public void execute(Request request) {
        if ((interest & Interest.OLD_VALUE) != 0) {
            request.requestValue(true);
        }
        final KeyBytes key = new KeyBytes(
                Arrays.copyOfRange(request.key(), request.keyOffset(), request.keyOffset() + request.keyLength()));
        final KeyEventQueue queue = enter(key);
        try {
            final Notification expiry;
            final Notification change;
            queue.order().lock();
            try {
                client.execute(request);
                expiry = Notification.ofExpiry(request);
                change = Notification.ofChange(request);
                if (expiry != null) {
                    queue.add(expiry);
                }
                if (change != null) {
                    queue.add(change);
                }
                if (remoteChanges != null) {
                    remoteChanges.recordDelivered(request, expiry, change);
                }
            } finally {
                queue.order().unlock();
            }
            deliver(queue, expiry, change);
        } finally {
            leave(key);
        }
    }

    private KeyEventQueue enter(KeyBytes key) {
        return queues.compute(key, (k, present) -> (present == null ? new KeyEventQueue() : present).retain());
    }

    private void leave(KeyBytes key) {
        queues.computeIfPresent(key, (k, present) -> present.release() ? null : present);
    }

    /**
     * Delivers a committed change of the stream, unless an operation of this JVM has done so or is about to.
     *
     * @param shard of the key
     * @param isDelivered evaluated when no operation of this JVM on that key is in flight
     */
    void deliverFromStream(int shard, Change change, BooleanSupplier isDelivered) {
        final KeyBytes key = new KeyBytes(change.key());
        final KeyEventQueue queue = enter(key);
        try {
            // An operation in flight on this key may have made the change: it records it when it completes.
            queue.order().lock();
            try {
                if (!isDelivered.getAsBoolean()) {
                    final Notification notification = Notification.ofStream(shard, change);
                    present().forEach(subscription -> subscription.offerLater(notification));
                }
            } finally {
                queue.order().unlock();
            }
        } finally {
            leave(key);
        }
    }

    /** Reports a loss of stream changes. */
    void reportLoss() {
        present().forEach(Subscription::reportLoss);
    }

    private void deliver(KeyEventQueue queue, @Nullable Notification expiry, @Nullable Notification change) {
        final Notification last = change != null ? change : expiry;
        if (last == null) {
            return;
        }
        final boolean mayWait = !callbacks.isCurrentInside();
        for (Notification next = queue.nextOrAwait(last, mayWait);
                next != null;
                next = queue.nextOrAwait(last, mayWait)) {
            Throwable failure = new IllegalStateException("the delivery of an event was interrupted by an error");
            try {
                failure = deliver(next);
            } finally {
                queue.complete(next, failure);
            }
        }
        throwFailure(expiry);
        throwFailure(change);
    }

    /** The first failure of a synchronous listener, with the others suppressed in it, or null. */
    private @Nullable Throwable deliver(Notification notification) {
        Throwable first = null;
        callbacks.enter();
        try {
            for (Subscription<?, ?> subscription : present()) {
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
