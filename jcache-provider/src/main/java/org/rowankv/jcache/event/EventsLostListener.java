package org.rowankv.jcache.event;

/**
 * Optional interface of a cache entry listener: receives losses of events. Such a listener receives no event twice, and
 * each event unless a loss is reported. Called on a thread of its manager, like events of other JVMs.
 */
public interface EventsLostListener {
    /**
     * Reports that events may be lost, because this JVM was disconnected or slow for longer than the servers retain
     * changes, because the servers' roles were reassigned, or because the listener exceeded its backlog. Later events
     * are delivered, and perhaps some earlier ones.
     *
     * @param cacheName of the cache
     * @param times losses of this listener so far; one per shard or event
     */
    void onEventsLost(String cacheName, long times);
}
