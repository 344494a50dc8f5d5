package org.rowankv.server.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.topology.Configuration;

/** Where a server gets new epochs for shards whose primary it is. */
@FunctionalInterface
public interface EpochSupplier {
    /**
     * Stores a configuration in which each of the shards has a larger epoch, or asks for a new start of all servers, in which each
     * gets one. May block on the configuration store.
     *
     * @return what is stored now; null if the epochs come with a new start, or it is to be asked again
     * @throws RuntimeException if that failed; it may be tried again
     */
    @Nullable
    Configuration renew(List<Integer> shards);
}
