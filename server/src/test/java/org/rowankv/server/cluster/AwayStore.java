package org.rowankv.server.cluster;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.configstore.NodeVersion;
import org.rowankv.server.configstore.Stamp;
import org.rowankv.server.configstore.VersionedNode;

/** A store in memory that a test makes unreachable: then every call fails, after a change notification. */
public final class AwayStore implements ConfigurationStore {
    private final ConfigurationStore store;
    public final AtomicLong failures = new AtomicLong();
    public volatile boolean away;
    /** The next change of that node is applied without an answer, and the store is away from then on. */
    volatile @Nullable String losesAnswerOf;

    volatile Consumer<String> changed = path -> {};

    public AwayStore() {
        this(new MemoryConfigurationStore());
    }

    AwayStore(ConfigurationStore store) {
        this.store = store;
    }

    private ConfigurationStore store() {
        if (away) {
            failures.incrementAndGet();
            changed.accept(ANY_PATH);
            throw new ConfigurationStoreException("the store is away");
        }
        return store;
    }

    @Override
    public @Nullable VersionedNode read(String path) {
        return store().read(path);
    }

    @Override
    public boolean compareAndSet(
            String path, long expectedVersion, byte[] bytes, Stamp stamp, @Nullable NodeVersion condition) {
        final boolean done = store().compareAndSet(path, expectedVersion, bytes, stamp, condition);
        if (path.equals(losesAnswerOf)) {
            losesAnswerOf = null;
            away = true;
            throw new ConfigurationStoreException("the answer is lost");
        }
        return done;
    }

    @Override
    public boolean delete(String path, long expectedVersion) {
        return store().delete(path, expectedVersion);
    }

    @Override
    public List<String> list(String prefix) {
        return store().list(prefix);
    }

    @Override
    public boolean watch(Consumer<String> newChanged) {
        changed = newChanged;
        return store.watch(newChanged);
    }

    @Override
    public void close() {
        store.close();
    }
}
