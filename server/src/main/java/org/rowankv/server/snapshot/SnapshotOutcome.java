package org.rowankv.server.snapshot;

import java.util.List;

/**
 * The result of copying a running store.
 *
 * @param segments that were in use, of all servers
 * @param entries in them, of all servers: objects, and the entries beside them
 * @param bytes of the areas' files, which have the length of the originals
 * @param versions by shard, the snapshot version: the copy holds everything up to it, and nothing after it
 */
public record SnapshotOutcome(int segments, long entries, long bytes, List<Long> versions) {
    public SnapshotOutcome {
        versions = List.copyOf(versions);
    }
}
