package org.rowankv.check.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryExpiredListener;
import javax.cache.event.CacheEntryRemovedListener;
import javax.cache.event.CacheEntryUpdatedListener;
import org.rowankv.jcache.event.EventsLostListener;
import org.rowankv.jcache.event.StoreEvent;

/** A listener that records its events. */
final class HeardEvents
        implements CacheEntryCreatedListener<String, Long>,
                CacheEntryUpdatedListener<String, Long>,
                CacheEntryRemovedListener<String, Long>,
                CacheEntryExpiredListener<String, Long>,
                EventsLostListener {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<String> texts = new ArrayList<>();
    private final List<String> versions = new ArrayList<>();
    private long losses;

    MutableCacheEntryListenerConfiguration<String, Long> configuration(boolean oldValues, boolean synchronous) {
        return new MutableCacheEntryListenerConfiguration<>(() -> this, null, oldValues, synchronous);
    }

    private synchronized void hear(Iterable<CacheEntryEvent<? extends String, ? extends Long>> events) {
        for (CacheEntryEvent<? extends String, ? extends Long> event : events) {
            final String old = event.isOldValueAvailable() ? " old " + event.getOldValue() : "";
            texts.add(event.getEventType() + " " + event.getKey() + "=" + event.getValue() + old);
            versions.add(event.getKey() + "@" + event.unwrap(StoreEvent.class).version() + event.getEventType());
        }
    }

    @Override
    public void onCreated(Iterable<CacheEntryEvent<? extends String, ? extends Long>> events) {
        hear(events);
    }

    @Override
    public void onUpdated(Iterable<CacheEntryEvent<? extends String, ? extends Long>> events) {
        hear(events);
    }

    @Override
    public void onRemoved(Iterable<CacheEntryEvent<? extends String, ? extends Long>> events) {
        hear(events);
    }

    @Override
    public void onExpired(Iterable<CacheEntryEvent<? extends String, ? extends Long>> events) {
        hear(events);
    }

    @Override
    public synchronized void onEventsLost(String cacheName, long times) {
        losses = times;
    }

    synchronized List<String> texts() {
        return List.copyOf(texts);
    }

    /** Key, version and type of each event. */
    synchronized List<String> versions() {
        return List.copyOf(versions);
    }

    synchronized long losses() {
        return losses;
    }
}
