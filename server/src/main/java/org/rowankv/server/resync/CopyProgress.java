package org.rowankv.server.resync;

/**
 * How far the copy of a shard to a joining server is.
 *
 * @param server that is catching up
 * @param phase of the copy
 * @param bytes of log space that the objects to copy took when they were counted; 0 before
 * @param copiedBytes that have landed, of objects and of what belongs to sessions
 */
public record CopyProgress(int shard, int server, Phase phase, long bytes, long copiedBytes) {
    /** What the copy of a shard waits for. */
    public enum Phase {
        /** For the versions that were assigned before the server became a backup: they are under way without it. */
        AWAITING_VERSIONS,
        /** For the size of the objects. */
        MEASURING,
        /** For the receiver, which must reserve that space. */
        ANNOUNCING,
        /** For the shards before it. */
        WAITING,
        /** For the entries, which are being sent. */
        COPYING,
        /** For the receiver, which must hear that all has landed. */
        REPORTING,
        /** For the configuration, which must say that the replica is complete. */
        COPIED
    }
}
