package org.rowankv.jcache.store;

import java.util.List;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.event.CallbackThreads;
import org.rowankv.jcache.event.EventHub;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

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

    /** Executes a request and delivers its events: the only path of requests that change entries of the cache. */
    public void execute(RowanClient client, Request request) {
        try {
            if (events.isInterestedIn(request.operation())) {
                events.execute(request);
            } else {
                client.execute(request);
            }
        } finally {
            noteChange(request);
        }
    }

    /** As {@link #execute} for unordered requests of one operation. */
    public void executeAll(RowanClient client, List<Request> requests) {
        if (requests.isEmpty()) {
            return;
        }
        try {
            if (events.isInterestedIn(requests.get(0).operation())) {
                requests.forEach(events::execute); // sequentially
            } else {
                client.executeAll(requests);
            }
        } finally {
            requests.forEach(this::noteChange);
        }
    }

    private void noteChange(Request request) {
        final boolean changes = request.operation() == Operation.PUT || request.operation() == Operation.DELETE;
        if (changes && request.status() == Status.OK) {
            runs.noteMutation(request);
            speculativeValues.invalidate(request);
        }
    }

    /** Removes all objects of the cache at once, without events. */
    public void clear(RowanClient client, int cacheId) {
        speculativeValues.clear();
        client.clear(cacheId);
    }
}
