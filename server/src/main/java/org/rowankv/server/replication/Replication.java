package org.rowankv.server.replication;

/**
 * The replication of one entry at a time to all backups of its shard. Has the same owner as its {@link Replicator}.
 *
 * <p>Progress is state, not callbacks: {@link #advance} makes all progress possible now, and any later owner of the
 * worker may call it. After a failure it resumes after what is known to have landed. So a backup may receive a part of
 * an entry more than once, and receives each at least once before {@code advance} is true.
 */
public interface Replication {
    /**
     * Acquires credit for the next entry from every backup of the shard, before it gets a version.
     *
     * @param usedLength of the entry, without padding
     * @return −1 when granted, otherwise a backup without credit; then nothing is held
     */
    int acquireCredit(int shard, int usedLength);

    /** Releases what {@link #acquireCredit} granted for an entry that was not written. */
    void returnCredit();

    /** Sets the next entry, where it lies in this server's own log. The previous one is complete. */
    void begin(int shard, long address);

    /**
     * True when every backup has acknowledged the entry. Never blocks. {@link Replicator#poll} sends what it posts and
     * receives acknowledgements.
     */
    boolean advance();

    /**
     * The thread failed inside {@link #advance}: the message that it was sending may have landed or not, and is sent
     * again. Earlier messages count.
     */
    void interrupted();

    /** The thread failed inside {@link Replicator#poll}: acknowledgements may be lost, and none is awaited any more. */
    void acknowledgementsLost();
}
