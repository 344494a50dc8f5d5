package org.rowankv.server.scrub;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Another server's replica of a shard: copies of whole entries, or none. Never waits. Used by one thread. */
public interface PeerReplica {
    /** Of a server that has no such replica any more: nothing is found there. */
    long GONE = Long.MAX_VALUE;

    /** Whether an entry is the requested one. */
    @FunctionalInterface
    interface Match {
        boolean test(ByteBuffer entry);
    }

    /**
     * Quiet cycles of that server, of which {@link #find} at the position shows the index: after two more, all that had
     * landed there is in it. −1 if not known yet.
     */
    long digestCycles(long position);

    /**
     * A copy of the matching entry of an object at that position, from its frame to its end; null when there is none
     * here, or it moves too often to be read.
     */
    @Nullable
    ByteBuffer find(long position, Match match);
}
