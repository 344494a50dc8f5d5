package org.rowankv.jcache.store;

import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.event.CallbackThreads;
import org.rowankv.jcache.event.EventHub;

/** What all openings of one cache in this JVM share, of whatever manager and class loader. */
public record SharedCacheState(
        EventHub events, KeyedLocks gates, ProcessorRuns runs, SpeculativeValues recent, CallbackThreads callbacks) {
    static SharedCacheState with(CallbackThreads callbacks, RowanClient client, int cacheId) {
        return new SharedCacheState(
                new EventHub(callbacks, client, cacheId),
                new KeyedLocks(callbacks),
                new ProcessorRuns(),
                new SpeculativeValues(),
                callbacks);
    }
}
