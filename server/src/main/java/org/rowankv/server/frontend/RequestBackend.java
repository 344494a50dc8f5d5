package org.rowankv.server.frontend;

import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.dispatch.PollableCalls;
import org.rowankv.server.shard.ShardChanges;

/** What stands behind a client port: a server, or something that answers as fast as nothing can. For any thread. */
public interface RequestBackend {
    /** Takes objects of a scan. */
    @FunctionalInterface
    interface Visitor {
        void onObject(byte[] key, byte @Nullable [] value, long version);
    }

    int serverId();

    /** Longest entry in bytes: no request with a longer key and value can be carried out. */
    default int longestEntry() {
        return AreaSettings.MAX_SEGMENT_LENGTH;
    }

    /**
     * For a loop's requests.
     *
     * @param loop number of the event loop, from 0
     * @param loops how many there are
     */
    PollableCalls calls(int loop, int loops);

    /** Whether this server answers for the shard. */
    boolean isPrimary(int shard);

    /** Whether anything is answered; if not, it is over. */
    boolean isServing();

    /** The changes of a shard that it answers for; null if it tells of none. */
    default @Nullable ShardChanges changes(int shard) {
        return null;
    }

    /** The last version that was given out of a shard that it answers for. */
    default long lastVersion(int shard) {
        return 0;
    }

    /** Every change of a shard with a version ≤ it is on all replicas, and was handed to its {@link #changes}. */
    default long finishedVersion(int shard) {
        return 0;
    }

    /** Whether the cache was destroyed, as far as that shard knows. */
    default boolean isDestroyed(int shard, int cacheId) {
        return false;
    }

    /** Hands the live objects at a position of a shard's hash order to a visitor; the next position, or 0 at the end. */
    long scan(int cacheId, int shard, long position, boolean withValues, Visitor visitor);
}
