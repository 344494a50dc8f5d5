package org.rowankv.jcache.store;

import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.event.CallbackThreads;
import org.rowankv.jcache.event.EventHub;

/** What all openings of one cache in this JVM share, of whatever manager and class loader. */
public record Rendezvous(
        EventHub events, KeyGates gates, ProcessorRuns runs, RecentWrites recent, CallbackThreads callbacks) {
    static Rendezvous with(CallbackThreads callbacks, RowanClient client, int cacheId) {
        return new Rendezvous(
                new EventHub(callbacks, client, cacheId),
                new KeyGates(callbacks),
                new ProcessorRuns(),
                new RecentWrites(),
                callbacks);
    }
}
