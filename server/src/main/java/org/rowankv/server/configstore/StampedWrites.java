package org.rowankv.server.configstore;

import org.rowankv.runtime.RandomSource;

/**
 * What one writer changes in a configuration store, with outcomes that are known: each change carries a stamp of its own, and after a
 * lost connection the node is read back to see whether it was made. Safe for any thread.
 */
public final class StampedWrites {
    private final ConfigurationStore store;
    private final String writer;
    private final RandomSource random;

    /** @param writer unique among all that write to the store */
    public StampedWrites(ConfigurationStore store, String writer, RandomSource random) {
        this.store = store;
        this.writer = writer;
        this.random = random;
    }

    /**
     * As {@link ConfigurationStore#compareAndSet}; true too if it failed and the node shows that it was made.
     *
     * @throws ConfigurationStoreException if it failed, and had not been made when the node was read. It may still be on its way;
     *     whoever tries again meets the version
     */
    public boolean compareAndSet(String path, long expectedVersion, byte[] bytes) {
        final Stamp stamp;
        synchronized (random) {
            stamp = new Stamp(writer, random.nextLong());
        }
        try {
            return store.compareAndSet(path, expectedVersion, bytes, stamp);
        } catch (ConfigurationStoreException e) {
            final VersionedNode now = store.read(path);
            if (now != null && now.stamp().equals(stamp)) {
                return true;
            }
            throw e;
        }
    }
}
