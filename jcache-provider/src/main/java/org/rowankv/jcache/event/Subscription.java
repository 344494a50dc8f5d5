package org.rowankv.jcache.event;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import javax.cache.Cache;
import javax.cache.configuration.CacheEntryListenerConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryEventFilter;
import javax.cache.event.CacheEntryExpiredListener;
import javax.cache.event.CacheEntryListener;
import javax.cache.event.CacheEntryRemovedListener;
import javax.cache.event.CacheEntryUpdatedListener;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One registered listener. A synchronous one is called by whoever made the change; an asynchronous one by a borrowed
 * thread, one event after the other, in the order they were offered. What other JVMs did is told by such a thread in either case.
 *
 * <p>An asynchronous listener that falls behind by more than its backlog loses events, which is counted and logged;
 * it never holds up the cache. After {@link #close} no call begins. Thread-safe.
 */
public final class Subscription<K, V> implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(Subscription.class);

    private static final int EVENTS_AT_A_TIME = 64;

    private final Cache<K, V> source;
    private final Registration<K, V> registration;
    private final CacheEntryListener<? super K, ? super V> listener;
    private final @Nullable CacheEntryEventFilter<? super K, ? super V> filter;
    private final boolean synchronous;
    private final boolean wantsOldValue;
    private final EntryDecoder<K, V> decoder;
    private final Executor executor;
    private final int interest;

    // Guarded by the queue.
    private final ListenerBacklog queue;
    private boolean running;
    private long lost;
    /** The listener is to be told that events were lost. */
    private boolean lossUntold;

    private volatile boolean closed;

    /**
     * @param canExpire whether entries of the cache can expire at all
     * @param executor whose threads call an asynchronous listener
     * @param backlog how many events an asynchronous listener may be behind
     */
    public Subscription(
            Cache<K, V> source,
            Registration<K, V> registration,
            EntryDecoder<K, V> decoder,
            boolean canExpire,
            Executor executor,
            int backlog) {
        this.source = source;
        this.registration = registration;
        this.decoder = decoder;
        this.executor = executor;
        this.queue = new ListenerBacklog(backlog);
        this.listener = registration.listener();
        this.filter = registration.filter();
        this.synchronous = registration.configuration().isSynchronous();
        this.wantsOldValue = registration.configuration().isOldValueRequired();
        this.interest = interestOf(listener, canExpire, wantsOldValue);
    }

    private static int interestOf(CacheEntryListener<?, ?> listener, boolean canExpire, boolean wantsOldValue) {
        int interest = listener instanceof CacheEntryCreatedListener ? Interest.CREATED : 0;
        interest |= listener instanceof CacheEntryUpdatedListener ? Interest.UPDATED : 0;
        interest |= listener instanceof CacheEntryRemovedListener ? Interest.REMOVED : 0;
        interest |= canExpire && listener instanceof CacheEntryExpiredListener ? Interest.EXPIRED : 0;
        return wantsOldValue && (interest & ~Interest.CREATED) != 0 ? interest | Interest.OLD_VALUE : interest;
    }

    public CacheEntryListenerConfiguration<K, V> configuration() {
        return registration.configuration();
    }

    int interest() {
        return interest;
    }

    /** Tells a synchronous listener now and returns what it threw; queues for an asynchronous one. */
    @Nullable
    Throwable offer(Notification notification) {
        if (closed || (interest & Interest.of(notification.type())) == 0) {
            return null;
        }
        if (!synchronous) {
            enqueue(notification);
            return null;
        }
        return call(notification);
    }

    /** Queues, whatever the listener is. */
    void offerLater(Notification notification) {
        if (!closed && (interest & Interest.of(notification.type())) != 0) {
            enqueue(notification);
        }
    }

    /** Events were lost before they came here. */
    void lose() {
        synchronized (queue) {
            if (closed) {
                return;
            }
            lost++;
            lossUntold = listener instanceof EventsLostListener;
            if (running || !lossUntold) {
                return;
            }
            running = true;
        }
        borrowThread();
    }

    /** How often events were lost to this listener: each event that it was too far behind for, and each loss of a shard's. */
    public long timesLost() {
        synchronized (queue) {
            return lost;
        }
    }

    private @Nullable Throwable call(Notification notification) {
        final StoreEvent<K, V> event = new StoreEvent<>(source, notification, decoder, wantsOldValue);
        try {
            if (filter == null || filter.evaluate(event)) {
                call(event);
            }
            return null;
        } catch (Throwable e) { // a listener may throw whatever it likes; the operation's caller gets it
            return e;
        }
    }

    @SuppressWarnings("unchecked") // a listener of K and V, as its factory promises
    private void call(StoreEvent<K, V> event) {
        final List<CacheEntryEvent<? extends K, ? extends V>> events = List.of(event);
        switch (event.type()) {
            case CREATED -> ((CacheEntryCreatedListener<K, V>) listener).onCreated(events);
            case UPDATED -> ((CacheEntryUpdatedListener<K, V>) listener).onUpdated(events);
            case REMOVED -> ((CacheEntryRemovedListener<K, V>) listener).onRemoved(events);
            case EXPIRED -> ((CacheEntryExpiredListener<K, V>) listener).onExpired(events);
        }
    }

    private void enqueue(Notification notification) {
        synchronized (queue) {
            if (closed) {
                return;
            }
            if (!queue.offer(notification)) {
                lost++;
                lossUntold = listener instanceof EventsLostListener;
                if (Long.bitCount(lost) == 1) {
                    LOG.warn(
                            "a listener of the cache {} is {} events behind: {} events lost so far",
                            source.getName(),
                            queue.size(),
                            lost);
                }
                return;
            }
            if (running) {
                return;
            }
            running = true;
        }
        borrowThread();
    }

    private void borrowThread() {
        try {
            executor.execute(this::callQueued);
        } catch (RejectedExecutionException e) {
            LOG.debug("the cache {} is being closed; its listener hears no more", source.getName(), e);
            synchronized (queue) {
                queue.clear();
                running = false;
            }
        }
    }

    /** Gives the thread back after some events, since other listeners may wait for it. */
    private void callQueued() {
        for (int told = 0; told < EVENTS_AT_A_TIME; told++) {
            final boolean loss;
            final long times;
            final Notification next;
            synchronized (queue) {
                loss = lossUntold && !closed;
                lossUntold = false;
                times = lost;
                next = closed ? null : queue.poll();
                running = loss || next != null;
            }
            if (!loss && next == null) {
                return;
            }
            if (loss) {
                reportLoss(times);
            }
            if (next != null) {
                callQueued(next);
            }
        }
        borrowThread();
    }

    private void callQueued(Notification next) {
        final Throwable failure = call(next);
        if (failure != null) {
            LOG.warn("an asynchronous listener of the cache {} failed on {}", source.getName(), next.type(), failure);
        }
    }

    private void reportLoss(long times) {
        if (listener instanceof EventsLostListener losing) {
            try {
                losing.onEventsLost(source.getName(), times);
            } catch (Throwable e) { // a listener may throw whatever it likes
                LOG.warn("a listener of the cache {} failed when it was told of a loss", source.getName(), e);
            }
        }
    }

    /** Ends the telling, and closes listener and filter where they are Closeable. */
    @Override
    public void close() throws IOException {
        synchronized (queue) {
            if (closed) {
                return;
            }
            closed = true;
            queue.clear();
        }
        registration.close();
    }
}
