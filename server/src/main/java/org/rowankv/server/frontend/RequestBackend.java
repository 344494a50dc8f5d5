package org.rowankv.server.frontend;

import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.dispatch.PollableCalls;
import org.rowankv.server.shard.ShardChanges;

/** The backend of a client port: a server, or a stub for measurements. Thread-safe. */
public interface RequestBackend {
    /** Receives the objects of a scan. */
    @FunctionalInterface
    interface Visitor {
        void onObject(byte[] key, byte @Nullable [] value, long version);
    }

    int serverId();

    /** Longest entry in bytes: no request with a longer key and value can be executed. */
    default int longestEntry() {
        return AreaSettings.MAX_SEGMENT_LENGTH;
    }

    /**
     * The calls for a loop's requests.
     *
     * @param loop number of the event loop, from 0
     * @param loops number of event loops
     */
    PollableCalls calls(int loop, int loops);

    /** Whether this server is the primary of the shard. */
    boolean isPrimary(int shard);

    /** Whether this server is about to serve the shard as its primary. */
    default boolean isOpening(int shard) {
        return false;
    }

    /** Sets what is called behind each change of {@link #isPrimary} or {@link #isOpening}. It must not block. */
    default void observe(Runnable observer) {}

    /** Whether requests are answered; false after the end. */
    boolean isServing();

    /** Whether it may answer a read without asking the backups, by its lease. */
    default boolean mayAnswer() {
        return true;
    }

    /** The change feed of a local primary shard; null if there is none. */
    default @Nullable ShardChanges changes(int shard) {
        return null;
    }

    /** The last version assigned in a local primary shard. */
    default long lastVersion(int shard) {
        return 0;
    }

    /** Every change of a shard with a version ≤ it is on all replicas and in {@link #changes}. */
    default long finishedVersion(int shard) {
        return 0;
    }

    /** Whether the cache was destroyed, according to that shard. */
    default boolean isDestroyed(int shard, int cacheId) {
        return false;
    }

    /**
     * Passes the live objects at a position of a shard's hash order to a visitor; returns the next position, or 0 at
     * the end.
     *
     * @throws org.rowankv.server.dispatch.NotServedException if the shard is not served here, or not any more after the
     *     read: then what the visitor has received is void
     */
    long scan(int cacheId, int shard, long position, boolean withValues, Visitor visitor);
}
