package org.rowankv.server.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.topology.Configuration;

/** Source of new epochs for a server's primary shards. */
@FunctionalInterface
public interface EpochSupplier {
    /**
     * Stores a configuration in which each of the shards has a larger epoch, or asks the manager for one. May block on
     * the configuration store of a store in one process.
     *
     * @return the stored configuration; null if the epochs come with roles, or the call is to be repeated
     * @throws RuntimeException if it failed; it may be retried
     */
    @Nullable
    Configuration renew(List<Integer> shards);
}
