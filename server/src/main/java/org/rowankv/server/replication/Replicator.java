package org.rowankv.server.replication;

/**
 * Puts one entry at a time on all backups of its shard. Owned by one worker or agent; the strategy behind it is chosen
 * once per server (Rowan; others exist to be measured against it).
 *
 * <p>Progress is state, not callbacks: {@link #advance} does what can be done now and may be called by whoever owns the
 * worker next. After a failure it begins again with the entry as it lies in the log, so a backup may receive an entry
 * more than once, and never less than once before {@code advance} is true.
 */
public interface Replicator extends AutoCloseable {
    /** The entry to replicate next, where it lies in this server's own log. The one before is complete. */
    void begin(int shard, long address);

    /** True when every backup has acknowledged the entry. Never blocks. */
    boolean advance();

    /**
     * Draws credit for an entry from every backup of the shard, before it gets a version.
     *
     * @param usedLength of the entry, without padding
     * @return −1 when granted, otherwise the backup that has none left; then nothing was kept
     */
    int drawCredit(int shard, int usedLength);

    /**
     * Whether that backup, which the last {@link #drawCredit} named, has not been heard: it is asked, or is being connected.
     * Then nothing is known about its space.
     */
    default boolean awaitsCredit(int server) {
        return false;
    }

    /** Gives back what {@link #drawCredit} granted for an entry that was not written. */
    void giveBackCredit(int shard, int usedLength);

    /** Gives all credit back that was drawn ahead. */
    void releaseCredit();

    @Override
    void close();
}
