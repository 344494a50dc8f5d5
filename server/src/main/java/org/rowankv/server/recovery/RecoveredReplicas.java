package org.rowankv.server.recovery;

import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The recovered replicas of one server, in this process or another, as the primaries of their shards use them in a
 * start. Every step may be repeated.
 */
public interface RecoveredReplicas {
    /** Adds the versions of its entries above that one and above its CommitVer; returns that CommitVer. */
    long collect(int shard, long above, Set<Long> versions);

    /** All replicas have its entries of the shard, but for these: each of them is lacking somewhere. */
    void keepOnly(int shard, Set<Long> lacking);

    /** A copy of the entry with that version; null if it has none that may be lacking somewhere. */
    @Nullable
    ByteBuffer fetch(int shard, long version);

    /** Adds an entry that it lacks. */
    void take(int shard, long version, ByteBuffer entry);
}
