package org.rowankv.server.catalogue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.configstore.StampedWrites;
import org.rowankv.server.configstore.VersionedNode;

/**
 * The existing caches: one node per cache, and one for the next id.
 *
 * <p>Guarantees: of callers that create one name concurrently, one creates it and all receive the same cache. An id is
 * taken from its node before the cache's node is written, so it is never assigned twice, whatever crashes in between;
 * some are never used. A cache is destroyed in three steps: its node is marked; the destroyer has logged it everywhere;
 * the node is deleted. {@link #resume}, or the next create or destroy of that name, completes an interrupted
 * destruction. From the first step on the cache is not found.
 *
 * <p>The content of a cache is replaced by that of a spare id, which belongs to no cache: {@link #spare}, {@link #replace}.
 * Whatever crashes in between, {@link #resume} destroys the content that the cache does not have.
 *
 * <p>Not guaranteed: that the destroyer is called once per cache. It is called at least once, and has returned before
 * the name can be used again.
 *
 * <p>Thread-safe, in any number of processes; calls block.
 */
public final class CatalogueStore {
    private static final String ROOT = "/catalogue";
    private static final String CACHES = ROOT + "/caches";
    /** Ids are never reused, and index arrays of 32 bytes for each shard. */
    public static final int MAX_ID = (1 << 20) - 1;

    static final String NEXT_ID = ROOT + "/next_id";
    /** Names of nodes that note a spare id. */
    private static final String SPARE = "rowan.spare.";

    private static final int MAX_DESCRIPTOR_LENGTH = 256 << 10;
    private static final int MAX_NAME_LENGTH = 32 << 10;

    private final ConfigurationStore store;
    private final StampedWrites writes;
    private final Consumer<Integer> destroyer;

    /**
     * @param writer unique among all processes that write to the store
     * @param destroyer makes every server refuse an id permanently; may be called again for the same id
     */
    public CatalogueStore(ConfigurationStore store, String writer, RandomSource random, Consumer<Integer> destroyer) {
        this.store = store;
        this.writes = new StampedWrites(store, writer, random);
        this.destroyer = destroyer;
    }

    /** The nodes of the catalogue in a store. */
    public static List<String> paths(ConfigurationStore store) {
        final List<String> paths = new ArrayList<>(store.list(CACHES));
        if (store.read(NEXT_ID) != null) {
            paths.add(NEXT_ID);
        }
        return paths;
    }

    /** The cache of that name, or null if there is none. */
    public @Nullable StoredCache find(String name) {
        final VersionedNode node = store.read(pathOf(name));
        return node == null || isDestroyed(name, node) ? null : cacheOf(name, node);
    }

    /** Creates the cache, or returns the existing one of that name, whatever its descriptor. */
    public StoredCache create(String name, byte[] descriptor) {
        if (descriptor.length > MAX_DESCRIPTOR_LENGTH || name.length() > MAX_NAME_LENGTH) {
            throw new IllegalArgumentException("a cache has a name of at most " + MAX_NAME_LENGTH
                    + " characters and a descriptor of at most " + MAX_DESCRIPTOR_LENGTH + " bytes, not "
                    + name.length()
                    + " and " + descriptor.length);
        }
        final String path = pathOf(name);
        @Nullable StoredCache own = null;
        while (true) {
            final VersionedNode node = store.read(path);
            if (node == null) {
                if (own == null) {
                    own = new StoredCache(takeId(), name, descriptor.clone(), CacheLimit.NONE);
                }
                if (writes.compareAndSet(path, ConfigurationStore.ABSENT, live(own))) {
                    return own;
                }
            } else if (isDestroyed(name, node)) {
                finish(path, name, node);
            } else {
                return cacheOf(name, node);
            }
        }
    }

    /**
     * Sets or removes the limit of an existing cache; the last call wins. Returns the changed cache; null if there is
     * none.
     */
    public @Nullable StoredCache limit(String name, CacheLimit limit) {
        final String path = pathOf(name);
        while (true) {
            final VersionedNode node = store.read(path);
            if (node == null || isDestroyed(name, node)) {
                return null;
            }
            final StoredCache found = cacheOf(name, node);
            final StoredCache limited = new StoredCache(found.id(), found.name(), found.descriptor(), limit);
            if (found.limit().equals(limit) || writes.compareAndSet(path, node.version(), live(limited))) {
                return limited;
            }
        }
    }

    /** An id for content that is to replace a cache's. {@link #resume} destroys it unless a cache has it by then. */
    public int spare() {
        final int id = takeId();
        noteSpare(id);
        return id;
    }

    private void noteSpare(int id) {
        final String path = pathOf(SPARE + id);
        final byte[] node = CacheNodeDescriptor.encode(
                new StoredCache(id, SPARE + id, new byte[0], CacheLimit.NONE), CacheNodeDescriptor.SPARE);
        final VersionedNode found = store.read(path);
        if (found == null ? !writes.compareAndSet(path, ConfigurationStore.ABSENT, node) : !isSpare(path, found)) {
            throw new IllegalStateException(
                    "a cache is called " + SPARE + id + ", a name that the store needs: destroy it");
        }
    }

    /**
     * Gives a cache the content of a spare id, and a descriptor; its limit stays. The former content is destroyed. Returns the
     * changed cache; null if there is none of that name, and then the id stays spare.
     */
    public @Nullable StoredCache replace(String name, int spareId, byte[] descriptor) {
        final String path = pathOf(name);
        while (true) {
            final VersionedNode node = store.read(path);
            if (node == null || isDestroyed(name, node)) {
                return null;
            }
            final StoredCache found = cacheOf(name, node);
            noteSpare(found.id());
            final StoredCache replaced = new StoredCache(spareId, found.name(), descriptor.clone(), found.limit());
            if (writes.compareAndSet(path, node.version(), live(replaced))) {
                endSpare(found.id());
                endSpare(spareId);
                return replaced;
            }
        }
    }

    /** Destroys a spare id unless a cache has it; its node goes. */
    public void endSpare(int id) {
        final String path = pathOf(SPARE + id);
        final VersionedNode node = store.read(path);
        if (node != null && isSpare(path, node)) {
            finish(path, path, node);
        }
    }

    /** Removes a cache with its content. False if there is none of that name. */
    public boolean destroy(String name) {
        final String path = pathOf(name);
        while (true) {
            final VersionedNode node = store.read(path);
            if (node == null) {
                return false;
            }
            if (isDestroyed(name, node)) {
                finish(path, name, node);
                return false;
            }
            final byte[] marked = CacheNodeDescriptor.encode(cacheOf(name, node), CacheNodeDescriptor.DESTROYED);
            if (writes.compareAndSet(path, node.version(), marked)) {
                final VersionedNode now = store.read(path);
                // Another caller that met the mark may have completed it already.
                if (now != null && isDestroyed(name, now)) {
                    finish(path, name, now);
                }
                return true;
            }
        }
    }

    /** The existing caches, ordered by id. */
    public List<StoredCache> list() {
        return list(store);
    }

    /** The existing caches of a store, ordered by id. */
    public static List<StoredCache> list(ConfigurationStore store) {
        final List<StoredCache> caches = new ArrayList<>();
        for (String path : store.list(CACHES)) {
            final VersionedNode node = store.read(path);
            if (node != null && !isDestroyed(path, node)) {
                caches.add(cacheOf(path, node));
            }
        }
        caches.sort((a, b) -> Integer.compare(a.id(), b.id()));
        return caches;
    }

    /** The assigned ids that belong to no cache. Call only while no cache is being created. */
    public BitSet retiredIds() {
        final BitSet ids = new BitSet();
        final VersionedNode next = store.read(NEXT_ID);
        if (next != null) {
            ids.set(1, idIn(next));
        }
        for (String path : store.list(CACHES)) {
            final VersionedNode node = store.read(path);
            if (node != null) {
                ids.clear(cacheOf(path, node).id());
            }
        }
        return ids;
    }

    /** Completes destructions interrupted by a crash. Call once at start, before the caches are used. */
    public void resume() {
        for (String path : store.list(CACHES)) {
            final VersionedNode node = store.read(path);
            if (node != null && isDestroyed(path, node)) {
                finish(path, path, node);
            }
        }
    }

    private void finish(String path, String name, VersionedNode destroyed) {
        final int id = cacheOf(name, destroyed).id();
        if (!isSpare(name, destroyed) || list().stream().noneMatch(cache -> cache.id() == id)) {
            destroyer.accept(id);
        }
        // False if another caller was faster; a cache created since has another version.
        store.delete(path, destroyed.version());
    }

    /** Whether a catalogue may have assigned that id. */
    public static boolean isId(long id) {
        return id > 0 && id <= MAX_ID;
    }

    private int takeId() {
        while (true) {
            final VersionedNode node = store.read(NEXT_ID);
            final int id = node == null ? 1 : idIn(node);
            if (id > MAX_ID) {
                throw new CacheIdsUsedException(MAX_ID);
            }
            final byte[] next = ByteBuffer.allocate(Integer.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(0, id + 1)
                    .array();
            if (writes.compareAndSet(NEXT_ID, node == null ? ConfigurationStore.ABSENT : node.version(), next)) {
                return id;
            }
        }
    }

    private static int idIn(VersionedNode node) {
        final int id = node.bytes().length != Integer.BYTES
                ? 0
                : ByteBuffer.wrap(node.bytes()).order(ByteOrder.LITTLE_ENDIAN).getInt();
        if (id < 1) {
            throw new ConfigurationStoreException(
                    "the node " + NEXT_ID + " is damaged: put the store back from a backup");
        }
        return id;
    }

    private static String pathOf(String name) {
        return CACHES + "/" + CacheName.encode(name);
    }

    private static boolean isDestroyed(String where, VersionedNode node) {
        requireValid(where, node);
        return CacheNodeDescriptor.state(node.bytes()) != CacheNodeDescriptor.LIVE;
    }

    private static boolean isSpare(String where, VersionedNode node) {
        requireValid(where, node);
        return CacheNodeDescriptor.state(node.bytes()) == CacheNodeDescriptor.SPARE;
    }

    private static byte[] live(StoredCache cache) {
        return CacheNodeDescriptor.encode(cache, CacheNodeDescriptor.LIVE);
    }

    private static StoredCache cacheOf(String where, VersionedNode node) {
        requireValid(where, node);
        return CacheNodeDescriptor.cache(node.bytes());
    }

    private static void requireValid(String where, VersionedNode node) {
        final String reason = CacheNodeDescriptor.whyInvalid(node.bytes());
        if (reason != null) {
            throw new ConfigurationStoreException("the catalogue's node of '" + where + "' cannot be read: " + reason);
        }
    }
}
