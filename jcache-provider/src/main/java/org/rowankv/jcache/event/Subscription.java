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
 * A registered listener of a cache, with its delivery and backlog. The thread of the operation calls a synchronous
 * one; a pool thread calls an asynchronous one, event by event in the order of arrival. A pool thread also delivers
 * changes of other JVMs, to both kinds.
 *
 * <p>An asynchronous listener loses events beyond its backlog, which are counted and logged; it never blocks the cache.
 * After {@link #close} no call begins. Thread-safe.
 */
public final class Subscription<K, V> implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(Subscription.class);

    private static final int MAX_BATCH = 64;

    private final Cache<K, V> source;
    private final Registration<K, V> registration;
    private final CacheEntryListener<? super K, ? super V> listener;
    private final @Nullable CacheEntryEventFilter<? super K, ? super V> filter;
    private final boolean synchronous;
    private final boolean needsOldValue;
    private final EntryDecoder<K, V> decoder;
    private final Executor executor;
    private final int interest;

    // --- guarded by the queue ---
    private final ListenerBacklog queue;
    private boolean running;
    private long lostCount;
    /** A loss is to be reported to the listener. */
    private boolean lossPending;

    private volatile boolean closed;

    /**
     * @param canExpire whether entries of the cache can expire
     * @param executor calls asynchronous listeners
     * @param backlog limit of events queued for an asynchronous listener
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
        this.needsOldValue = registration.configuration().isOldValueRequired();
        this.interest = interestOf(listener, canExpire, needsOldValue);
    }

    private static int interestOf(CacheEntryListener<?, ?> listener, boolean canExpire, boolean needsOldValue) {
        int interest = listener instanceof CacheEntryCreatedListener ? Interest.CREATED : 0;
        interest |= listener instanceof CacheEntryUpdatedListener ? Interest.UPDATED : 0;
        interest |= listener instanceof CacheEntryRemovedListener ? Interest.REMOVED : 0;
        interest |= canExpire && listener instanceof CacheEntryExpiredListener ? Interest.EXPIRED : 0;
        return needsOldValue && (interest & ~Interest.CREATED) != 0 ? interest | Interest.OLD_VALUE : interest;
    }

    public CacheEntryListenerConfiguration<K, V> configuration() {
        return registration.configuration();
    }

    int interest() {
        return interest;
    }

    /** Calls a synchronous listener and returns its exception; queues for an asynchronous one. */
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

    /** Queues the notification for both kinds of listeners. */
    void offerLater(Notification notification) {
        if (!closed && (interest & Interest.of(notification.type())) != 0) {
            enqueue(notification);
        }
    }

    /** Counts a loss of events before this subscription. */
    void reportLoss() {
        synchronized (queue) {
            if (closed) {
                return;
            }
            lostCount++;
            lossPending = listener instanceof EventsLostListener;
            if (running || !lossPending) {
                return;
            }
            running = true;
        }
        submit();
    }

    /** Losses of this listener: each event beyond its backlog, and each loss of a shard. */
    public long lostEventCount() {
        synchronized (queue) {
            return lostCount;
        }
    }

    private @Nullable Throwable call(Notification notification) {
        final StoreEvent<K, V> event = new StoreEvent<>(source, notification, decoder, needsOldValue);
        try {
            if (filter == null || filter.evaluate(event)) {
                call(event);
            }
            return null;
        } catch (Throwable e) { // any exception of a listener goes to the operation's caller
            return e;
        }
    }

    @SuppressWarnings("unchecked") // the factory's type declares a listener of K and V
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
                lostCount++;
                lossPending = listener instanceof EventsLostListener;
                if (Long.bitCount(lostCount) == 1) {
                    LOG.warn(
                            "ROWAN-1105 Listener backlog full cache={} queued={} lost={}",
                            source.getName(),
                            queue.size(),
                            lostCount);
                }
                return;
            }
            if (running) {
                return;
            }
            running = true;
        }
        submit();
    }

    private void submit() {
        try {
            executor.execute(this::callQueued);
        } catch (RejectedExecutionException e) {
            LOG.debug("Cache closing; its listener receives no further events cache={}", source.getName(), e);
            synchronized (queue) {
                queue.clear();
                running = false;
            }
        }
    }

    /** Releases the thread after some events, because other listeners may wait for it. */
    private void callQueued() {
        for (int delivered = 0; delivered < MAX_BATCH; delivered++) {
            final boolean loss;
            final long times;
            final Notification next;
            synchronized (queue) {
                loss = lossPending && !closed;
                lossPending = false;
                times = lostCount;
                next = closed ? null : queue.poll();
                running = loss || next != null;
            }
            if (!loss && next == null) {
                return;
            }
            if (loss) {
                deliverLoss(times);
            }
            if (next != null) {
                callQueued(next);
            }
        }
        submit();
    }

    private void callQueued(Notification next) {
        final Throwable failure = call(next);
        if (failure != null) {
            LOG.warn(
                    "ROWAN-1106 Asynchronous listener failed cache={} event={}",
                    source.getName(),
                    next.type(),
                    failure);
        }
    }

    private void deliverLoss(long times) {
        if (listener instanceof EventsLostListener lossListener) {
            try {
                lossListener.onEventsLost(source.getName(), times);
            } catch (Throwable e) { // a listener may throw any exception
                LOG.warn("ROWAN-1107 Listener failed on a loss cache={}", source.getName(), e);
            }
        }
    }

    /** Stops the delivery, and closes listener and filter if they are Closeable. */
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
