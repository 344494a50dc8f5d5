package org.rowankv.sim.embedded;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.configstore.NodeVersion;
import org.rowankv.server.configstore.Stamp;
import org.rowankv.server.configstore.VersionedNode;

/** A configuration store that survives crashes, which may strike just before a change or just after it. */
final class SimConfigurationStore implements ConfigurationStore {
    private final MemoryConfigurationStore store = new MemoryConfigurationStore();

    @Override
    public @Nullable VersionedNode read(String path) {
        return store.read(path);
    }

    @Override
    public boolean compareAndSet(
            String path, long expectedVersion, byte[] bytes, Stamp stamp, @Nullable NodeVersion condition) {
        Chaos.point("configuration.before-change");
        final boolean done = store.compareAndSet(path, expectedVersion, bytes, stamp, condition);
        Chaos.point("configuration.after-change");
        return done;
    }

    @Override
    public boolean delete(String path, long expectedVersion) {
        Chaos.point("configuration.before-change");
        final boolean done = store.delete(path, expectedVersion);
        Chaos.point("configuration.after-change");
        return done;
    }

    @Override
    public List<String> list(String prefix) {
        return store.list(prefix);
    }

    @Override
    public void close() {
        // The next incarnation of the store continues to use it.
    }
}
