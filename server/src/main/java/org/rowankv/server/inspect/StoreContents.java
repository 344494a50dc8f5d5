package org.rowankv.server.inspect;

import java.util.List;
import org.rowankv.server.checkpoint.CheckpointReader;
import org.rowankv.server.directory.Damage;
import org.rowankv.server.directory.StoreShape;
import org.rowankv.topology.Configuration;

/**
 * The content of a closed store.
 *
 * @param copied whether the directory is not the one the store was created in
 * @param caches that exist, by id
 * @param checkpoints of the servers' indexes; a store does not need them
 * @param damages all damage found, in any file
 */
public record StoreContents(
        String directory,
        int formatVersion,
        String clusterId,
        String durability,
        boolean copied,
        StoreShape shape,
        Configuration configuration,
        List<CacheOfStore> caches,
        List<ServerContents> servers,
        List<CheckpointReader> checkpoints,
        List<Damage> damages) {
    /** A cache that exists. */
    public record CacheOfStore(int id, String name) {}
}
