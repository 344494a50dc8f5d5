package org.rowankv.server.replication;

/**
 * Puts one entry at a time on all backups of its shard. Owned by who owns its {@link Replicator}.
 *
 * <p>Progress is state, not callbacks: {@link #advance} does what can be done now and may be called by whoever owns the
 * worker next. After a failure it goes on behind what is known to have landed, so a backup may receive a part of an entry
 * more than once, and never less than once before {@code advance} is true.
 */
public interface Replication {
    /** The entry to replicate next, where it lies in this server's own log. The one before is complete. */
    void begin(int shard, long address);

    /**
     * True when every backup has acknowledged the entry. Never blocks. What it posts, and what is acknowledged, goes and comes
     * by {@link Replicator#poll}.
     */
    boolean advance();

    /**
     * An error struck the thread inside {@link #advance}: what it was sending at that moment may have landed or not, and
     * goes once more. What was sent before counts.
     */
    void interrupted();

    /** An error struck the thread inside {@link Replicator#poll}: acknowledgements may be lost, and no more are awaited. */
    void acknowledgementsLost();
}
