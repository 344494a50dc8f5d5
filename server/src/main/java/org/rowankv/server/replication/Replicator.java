package org.rowankv.server.replication;

/**
 * Replicates a worker's entries to all backups of their shards. Holds what the entries of one worker share: connections
 * and credit. Owned by one worker or agent. The strategy is chosen once per server (Rowan; others exist for
 * comparison).
 */
public interface Replicator extends AutoCloseable {
    /** A reusable replication of one entry at a time, concurrent with others. Call before anything is in flight. */
    Replication newReplication();

    /**
     * Processes acknowledgements of backups, and sends what is posted: entries begun between two calls go out together.
     */
    void poll();

    /**
     * Whether the answer of that backup, which the last {@link Replication#acquireCredit} returned, or the connection to
     * it, is outstanding. Then its space is unknown.
     */
    default boolean awaitsCredit(int server) {
        return false;
    }

    /** Releases all credit acquired ahead. Nothing is in flight. */
    void releaseCredit();

    /** As {@link #releaseCredit} during use: keeps credit whose request is outstanding. */
    void releaseSpareCredit();

    @Override
    void close();
}
