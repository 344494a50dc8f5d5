package org.rowankv.driver.api;

import org.rowankv.protocol.Change;

/**
 * Hears of the committed changes of a cache. Called by threads of the client: for one shard by one at a time, for different shards
 * perhaps by several. What it throws is logged, and the stream goes on. While it runs, others of the same server wait; the servers do
 * not: who is too slow is told that events are lost.
 */
public interface ChangeListener {
    /**
     * Something has changed. Every change of a shard once, in the order of their versions, as far as they are not lost.
     *
     * @param shard that the key belongs to
     */
    void onChange(int shard, Change change);

    /**
     * Changes of a shard may be missing: none may be, or any number. Whoever keeps a copy reads it again.
     *
     * @param after everything up to this version was told
     * @param upTo everything after this version will be told
     */
    void onEventsLost(int shard, long after, long upTo);
}
