package org.rowankv.driver.api;

import org.rowankv.protocol.Change;

/**
 * Receives the committed changes of a cache, on threads of the client: calls for one shard are sequential, calls for
 * different shards may be concurrent. Exceptions are logged, and the stream continues. A running call delays the other
 * listeners of the same server, not the servers: a listener that is too slow loses events, and receives {@link
 * #onEventsLost}.
 */
public interface ChangeListener {
    /**
     * Delivers each change of a shard once, in the order of versions, unless lost.
     *
     * @param shard of the key
     */
    void onChange(int shard, Change change);

    /**
     * Whether values in parts are read before their changes are delivered. A change whose parts are gone, since its value
     * was replaced, is reported as lost. If false, such a change has the bytes of its {@link org.rowankv.protocol.PartList}.
     */
    default boolean readsParts() {
        return true;
    }

    /**
     * Reports that any number of changes of a shard may be missing, or none. A listener that maintains a copy must read
     * it again.
     *
     * @param after changes up to this version have been delivered
     * @param upTo changes after this version will be delivered
     */
    void onEventsLost(int shard, long after, long upTo);
}
