package org.rowankv.server.snapshot;

import java.util.List;

/**
 * What a copy of a running store holds.
 *
 * @param segments that were in use, of all servers
 * @param entries in them, of all servers: objects, and what is needed beside them
 * @param bytes of the areas' files, which have the length of the originals
 * @param versions by shard, the version up to which the copy holds everything, and behind which nothing
 */
public record SnapshotOutcome(int segments, long entries, long bytes, List<Long> versions) {
    public SnapshotOutcome {
        versions = List.copyOf(versions);
    }
}
