package org.rowankv.jcache.event;

/**
 * What a cache entry listener may be besides: then it is told that events were lost to it. It hears of no event twice, and of each
 * unless it was told this. Called by a thread of its manager, as for an event that another JVM caused.
 */
public interface EventsLostListener {
    /**
     * Events may have been lost: because this JVM was cut off for longer than the servers keep changes, or was too slow to fetch
     * them; because the servers' roles were given out anew; or because the listener was too far behind. Events that come after this
     * are told, and perhaps some that came before.
     *
     * @param cacheName of the cache
     * @param times how often that has happened to this listener so far; counted once for each shard or event
     */
    void onEventsLost(String cacheName, long times);
}
