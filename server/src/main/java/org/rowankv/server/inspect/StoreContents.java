package org.rowankv.server.inspect;

import java.util.List;
import org.rowankv.server.checkpoint.CheckpointReader;
import org.rowankv.server.directory.Damage;
import org.rowankv.server.directory.StoreShape;
import org.rowankv.topology.Configuration;

/**
 * What a closed store says of itself and what lies in it.
 *
 * @param copied whether the directory is another one than the store was created in
 * @param caches that exist, by id
 * @param checkpoints of the servers' indexes; a store does not need them
 * @param damages all that was found damaged, in whatever file
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
