package org.rowankv.server.snapshot;

import java.util.List;

/**
 * The result of copying a running store.
 *
 * @param entries of all servers: objects, and the entries beside them
 * @param versions by shard, the snapshot version: the copy holds everything up to it, and nothing after it
 */
public record SnapshotOutcome(long entries, List<Long> versions) {
    public SnapshotOutcome {
        versions = List.copyOf(versions);
    }
}
