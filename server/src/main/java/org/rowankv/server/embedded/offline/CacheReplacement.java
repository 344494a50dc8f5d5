package org.rowankv.server.embedded.offline;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.Session;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.directory.StoreShape;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.engine.Server;

/**
 * The replacement of a cache's whole content by a tool, in a store that nothing else has open: write the new content under
 * {@link #newId}, then {@link #replace}. Until then the cache has its old content, whatever ends this process; what was written is
 * destroyed by {@link #close}, or by the next start of the store. For one thread.
 */
public final class CacheReplacement implements AutoCloseable {
    private final EmbeddedCluster store;
    private final Catalogue.CacheRecord cache;
    private final int newId;

    /**
     * An object of the cache.
     *
     * @param version by which clients identify it, unique in its shard
     * @param expiryMs wall-clock milliseconds, or Long.MAX_VALUE for never
     */
    @SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, never compared
    public record StoredObject(byte[] key, byte[] value, int shard, long version, long expiryMs) {}

    private CacheReplacement(EmbeddedCluster store, Catalogue.CacheRecord cache) {
        this.store = store;
        this.cache = cache;
        this.newId = store.spares().spare();
    }

    /**
     * Opens the store in a directory with the settings that it was made with.
     *
     * @throws StoreOpenException if it is in use or damaged, or has no cache of that name
     */
    public static CacheReplacement open(Path directory, String name) {
        final EmbeddedCluster store = EmbeddedCluster.open(settings(directory));
        try {
            final Catalogue.CacheRecord cache = store.session().catalogue().find(name);
            if (cache == null) {
                throw new StoreOpenException("the store in " + directory + " has no cache " + name + "; its caches: "
                        + store.session().catalogue().list().stream()
                                .map(Catalogue.CacheRecord::name)
                                .collect(Collectors.joining(", ")));
            }
            return new CacheReplacement(store, cache);
        } catch (RuntimeException | Error e) {
            store.close();
            throw e;
        }
    }

    private static EmbeddedSettings settings(Path directory) {
        try (ClosedStore closed = ClosedStore.open(directory)) {
            final StoreShape shape = closed.shape();
            return EmbeddedSettings.of(with -> {
                with.dir = directory;
                with.servers = shape.servers();
                with.replicas = shape.replicas();
                with.capacityBytes = shape.capacity();
                with.shards = shape.shards();
                with.segmentBytes = shape.segmentLength();
                with.durability = closed.durability();
                with.scrubMibPerSecond = 0;
            });
        }
    }

    /** The session of the store, for writing. */
    public Session session() {
        return store.session();
    }

    /** What the clients stored with the cache. */
    public byte[] descriptor() {
        return cache.descriptor();
    }

    /** The cache id of the present content. */
    public int oldId() {
        return cache.id();
    }

    /** The cache id of the new content. */
    public int newId() {
        return newId;
    }

    /** Visits the present objects, in any order; the visitor may write. */
    public void forEach(Consumer<StoredObject> visitor) {
        final List<StoredObject> found = new ArrayList<>();
        for (int shard = 0; shard < store.configuration().shardCount(); shard++) {
            final int number = shard;
            final Server primary =
                    store.servers().get(store.configuration().shard(shard).primary());
            long position = 0;
            do {
                position = primary.scan(
                        cache.id(),
                        shard,
                        position,
                        true,
                        (key, value, version, expiryMs) ->
                                found.add(new StoredObject(key, valueOf(value), number, version, expiryMs)));
                // After the visit of a bucket, which is locked meanwhile.
                found.forEach(visitor);
                found.clear();
            } while (position != 0);
        }
    }

    private static byte[] valueOf(byte @Nullable [] value) {
        return Objects.requireNonNull(value, "a scan with values has them");
    }

    /** Gives the cache the new content and a descriptor, and destroys the old content. */
    public void replace(byte[] descriptor) {
        if (!store.spares().replace(cache.name(), newId, descriptor)) {
            throw new StoreOpenException("the cache " + cache.name() + " was destroyed meanwhile");
        }
    }

    @Override
    public void close() {
        try {
            store.spares().endSpare(newId);
        } finally {
            store.close();
        }
    }
}
