package org.rowankv.server.replication;

/**
 * Puts a worker's entries on all backups of their shards: what the entries of one worker share, the connections and the
 * credit. Owned by one worker or agent; the strategy behind it is chosen once per server (Rowan; others exist to be measured
 * against it).
 */
public interface Replicator extends AutoCloseable {
    /** Who carries one entry at a time, among others: to be used again and again. Before anything is under way. */
    Replication newReplication();

    /**
     * Hears what backups have acknowledged, and sends on its way what has been posted: entries that were begun between two calls
     * go out together.
     */
    void poll();

    /**
     * Draws credit for an entry from every backup of the shard, before it gets a version.
     *
     * @param usedLength of the entry, without padding
     * @return −1 when granted, otherwise the backup that has none left; then nothing was kept
     */
    int acquireCredit(int shard, int usedLength);

    /**
     * Whether that backup, which the last {@link #acquireCredit} named, has not been heard: it is asked, or is being connected.
     * Then nothing is known about its space.
     */
    default boolean awaitsCredit(int server) {
        return false;
    }

    /** Gives back what {@link #acquireCredit} granted for an entry that was not written. */
    void giveBackCredit(int shard, int usedLength);

    /** Gives all credit back that was drawn ahead. Nothing is under way. */
    void releaseCredit();

    /** As {@link #releaseCredit} in the middle of use: what somebody has asked for, and not heard of, stays. */
    void releaseSpareCredit();

    @Override
    void close();
}
