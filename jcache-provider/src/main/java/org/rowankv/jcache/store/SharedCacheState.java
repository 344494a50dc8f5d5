package org.rowankv.jcache.store;

import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.event.CallbackThreads;
import org.rowankv.jcache.event.EventHub;

/** State shared by all open caches in this JVM on one cache of the store, whatever their manager and class loader. */
public record SharedCacheState(
        EventHub events,
        KeyedLocks locks,
        ProcessorRuns runs,
        SpeculativeValues speculativeValues,
        CallbackThreads callbacks) {
    static SharedCacheState with(CallbackThreads callbacks, RowanClient client, int cacheId) {
        return new SharedCacheState(
                new EventHub(callbacks, client, cacheId),
                new KeyedLocks(callbacks),
                new ProcessorRuns(),
                new SpeculativeValues(),
                callbacks);
    }
}
