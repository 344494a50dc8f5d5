package org.rowankv.server.configstore;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;

/**
 * Compare-and-set of one writer with definite outcomes: each change carries its own stamp, and after a lost connection
 * the node is read back. Thread-safe.
 */
public final class StampedWrites {
    private final ConfigurationStore store;
    private final String writer;
    private final RandomSource random;

    /** @param writer unique among all writers of the store */
    public StampedWrites(ConfigurationStore store, String writer, RandomSource random) {
        this.store = store;
        this.writer = writer;
        this.random = random;
    }

    /**
     * As {@link ConfigurationStore#compareAndSet}; true also if it failed but the node shows that it was applied.
     *
     * @throws ConfigurationStoreException if it failed, and was not applied when the node was read. It may still be in
     * transit; a retry meets the version check
     */
    public boolean compareAndSet(String path, long expectedVersion, byte[] bytes) {
        return compareAndSet(path, expectedVersion, bytes, null);
    }

    /** As above, on condition of another node's version too. */
    public boolean compareAndSet(String path, long expectedVersion, byte[] bytes, @Nullable NodeVersion condition) {
        final Stamp stamp;
        synchronized (random) {
            stamp = new Stamp(writer, random.nextLong());
        }
        try {
            return store.compareAndSet(path, expectedVersion, bytes, stamp, condition);
        } catch (ConfigurationStoreException e) {
            final VersionedNode now = store.read(path);
            if (now != null && now.stamp().equals(stamp)) {
                return true;
            }
            throw e;
        }
    }
}
