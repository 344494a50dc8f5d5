package org.rowankv.server.catalogue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.configstore.Stamp;
import org.rowankv.server.configstore.VersionedNode;

class CatalogueStoreTest {
    private final MemoryConfigurationStore nodes = new MemoryConfigurationStore();
    private final List<Integer> destroyed = Collections.synchronizedList(new ArrayList<>());
    private final CatalogueStore catalogue = catalogueOver(nodes);

    private CatalogueStore catalogueOver(ConfigurationStore store) {
        return new CatalogueStore(store, "test", new SplittableRandomSource(1), destroyed::add);
    }

    @Test
    void shouldCreateFindListAndDestroy() {
        assertThat(catalogue.find("a")).isNull();
        assertThat(catalogue.destroy("a")).isFalse();
        final StoredCache a = catalogue.create("a", new byte[] {1});
        assertThat(a.id()).isEqualTo(1);
        assertThat(catalogue.create("b", new byte[0]).id()).isEqualTo(2);
        assertThat(catalogue.create("a", new byte[] {9}).descriptor()).isEqualTo(new byte[] {1});
        assertThat(catalogue.find("a").id()).isEqualTo(1);
        assertThat(catalogue.list()).extracting(StoredCache::name).containsExactly("a", "b");
        assertThat(catalogue.destroy("a")).isTrue();
        assertThat(destroyed).containsExactly(1);
        assertThat(catalogue.find("a")).isNull();
        assertThat(catalogue.list()).extracting(StoredCache::id).containsExactly(2);
    }

    /** Four bytes of the store, little endian, are the next id. */
    @Test
    void shouldRefuseACacheForWhichThereIsNoId() {
        catalogue.create("first", new byte[0]);
        final VersionedNode next = nodes.read(CatalogueStore.NEXT_ID);
        final byte[] last = ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0, CatalogueStore.MAX_ID)
                .array();
        assertThat(nodes.compareAndSet(CatalogueStore.NEXT_ID, next.version(), last, next.stamp()))
                .isTrue();
        assertThat(catalogue.create("last", new byte[0]).id()).isEqualTo(CatalogueStore.MAX_ID);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> catalogue.create("none", new byte[0]))
                    .hasMessageContaining("copy the objects to a new store");
        }
        assertThat(catalogue.find("none")).isNull();
        assertThat(catalogue.create("last", new byte[0]).id()).isEqualTo(CatalogueStore.MAX_ID);
    }

    @Test
    void shouldRememberLimits() {
        final StoredCache a = catalogue.create("a", new byte[] {1});
        assertThat(a.limit()).isEqualTo(CacheLimit.NONE);
        final CacheLimit limit = new CacheLimit(7, 1L << 40);
        assertThat(catalogue.limit("a", limit).id()).isEqualTo(a.id());
        assertThat(catalogueOver(nodes).find("a").limit()).isEqualTo(limit);
        assertThat(catalogueOver(nodes).find("a").descriptor()).isEqualTo(new byte[] {1});
        assertThat(catalogue.create("a", new byte[0]).limit()).isEqualTo(limit);
        assertThat(catalogue.limit("b", limit)).isNull();
        catalogue.destroy("a");
        assertThat(catalogue.limit("a", limit)).isNull();
        assertThat(catalogue.create("a", new byte[0]).limit()).isEqualTo(CacheLimit.NONE);
    }

    /** Stores created before caches could have limits. */
    @Test
    void shouldReadNodesWithoutLimits() {
        final byte[] now = CacheNodeDescriptor.encode(
                new StoredCache(3, "n", new byte[] {5, 6}, CacheLimit.NONE), CacheNodeDescriptor.LIVE);
        final int limits = 2 * Long.BYTES;
        final byte[] old = new byte[now.length - limits];
        System.arraycopy(now, 0, old, 0, CacheNodeDescriptor.MAX_ENTRIES_OFFSET);
        System.arraycopy(
                now,
                CacheNodeDescriptor.HEADER_LENGTH,
                old,
                CacheNodeDescriptor.MAX_ENTRIES_OFFSET,
                now.length - CacheNodeDescriptor.HEADER_LENGTH);
        final ByteBuffer buffer = ByteBuffer.wrap(old).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(CacheNodeDescriptor.FORMAT_VERSION_OFFSET, CacheNodeDescriptor.FORMAT_VERSION_WITHOUT_LIMITS);
        final CRC32C crc = new CRC32C();
        crc.update(old, CacheNodeDescriptor.ID_OFFSET, old.length - CacheNodeDescriptor.ID_OFFSET);
        buffer.putInt(CacheNodeDescriptor.CHECKSUM_OFFSET, (int) crc.getValue());
        assertThat(CacheNodeDescriptor.whyInvalid(old)).isNull();
        final StoredCache cache = CacheNodeDescriptor.cache(old);
        assertThat(cache.name()).isEqualTo("n");
        assertThat(cache.descriptor()).isEqualTo(new byte[] {5, 6});
        assertThat(cache.limit()).isEqualTo(CacheLimit.NONE);
    }

    @Test
    void shouldNeverGiveAnIdTwice() {
        final Set<Integer> ids = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            assertThat(ids.add(catalogue.create("same", new byte[0]).id())).isTrue();
            assertThat(catalogue.destroy("same")).isTrue();
        }
        assertThat(ids.add(catalogueOver(nodes).create("same", new byte[0]).id()))
                .isTrue();
    }

    @Test
    void shouldTellAllNamesApart() {
        final Set<String> names = new HashSet<>(List.of(
                "",
                "a",
                "A",
                "%0041",
                "n_a",
                "/",
                "..",
                "../..",
                "a/b",
                "a\\b",
                "nul",
                "\0",
                "é",
                "e\u0301",
                "\ud800",
                "\ud801",
                "?",
                "\ud83d\ude00",
                " ",
                "x".repeat(117),
                "x".repeat(118),
                "x".repeat(119),
                "x".repeat(30000),
                "X".repeat(30000),
                "CON",
                "a.node",
                "."));
        final Random random = new Random(7);
        for (int i = 0; i < 300; i++) {
            final char[] name = new char[random.nextInt(60)];
            for (int j = 0; j < name.length; j++) {
                name[j] = (char) random.nextInt(1 << 16);
            }
            names.add(new String(name));
        }
        final Set<Integer> ids = new HashSet<>();
        final Set<String> paths = new HashSet<>();
        for (String name : names) {
            assertThat(ids.add(catalogue.create(name, new byte[0]).id())).isTrue();
            assertThat(paths.add(CacheName.encode(name))).isTrue();
        }
        for (String name : names) {
            assertThat(catalogue.find(name).name()).isEqualTo(name);
        }
        assertThat(catalogue.list()).extracting(StoredCache::name).containsExactlyInAnyOrderElementsOf(names);
        assertThatThrownBy(() -> catalogue.create("x".repeat(40_000), new byte[0]))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> catalogue.create("x", new byte[300_000])).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldGiveAllCreatorsOfANameTheSameCache() throws InterruptedException {
        for (int round = 0; round < 100; round++) {
            final String name = "cache" + round;
            final Set<Integer> ids = ConcurrentHashMap.newKeySet();
            inParallel(
                    4,
                    i -> ids.add(catalogueOver(nodes)
                            .create(name, new byte[] {(byte) i})
                            .id()));
            assertThat(ids).hasSize(1);
        }
        final List<Integer> all = catalogue.list().stream().map(StoredCache::id).toList();
        assertThat(all).hasSize(100).doesNotHaveDuplicates();
    }

    @Test
    void shouldDestroyOnceWhoeverAsks() throws InterruptedException {
        for (int round = 0; round < 100; round++) {
            final int id = catalogue.create("same", new byte[0]).id();
            final AtomicInteger won = new AtomicInteger();
            final Set<Integer> later = ConcurrentHashMap.newKeySet();
            inParallel(3, i -> {
                if (catalogueOver(nodes).destroy("same")) {
                    won.incrementAndGet();
                    later.add(catalogue.create("same", new byte[0]).id());
                }
            });
            // A late caller may have destroyed the cache that was created after the first.
            assertThat(won.get()).isGreaterThanOrEqualTo(1);
            assertThat(later).hasSize(won.get()).doesNotContain(id);
            assertThat(destroyed).contains(id);
            catalogue.destroy("same");
        }
    }

    private interface Body {
        void run(int index);
    }

    private static void inParallel(int threads, Body body) throws InterruptedException {
        final CountDownLatch start = new CountDownLatch(1);
        final List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            final int index = i;
            final Thread thread = new Thread(() -> {
                try {
                    start.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                body.run(index);
            });
            all.add(thread);
            thread.start();
        }
        start.countDown();
        for (Thread thread : all) {
            thread.join();
        }
    }

    /** A process that dies before or after its n-th change: the next one finds the cache whole, or not at all. */
    @Test
    void shouldBeResumableWhereverACreationStops() {
        for (int changes = 0; changes < 3; changes++) {
            for (boolean applied : new boolean[] {false, true}) {
                final MemoryConfigurationStore inner = new MemoryConfigurationStore();
                final int before =
                        catalogueOver(inner).create("other", new byte[0]).id();
                final CatalogueStore dying = catalogueOver(new DyingStore(inner, changes, applied));
                try {
                    dying.create("a", new byte[] {1});
                } catch (ProcessDied e) {
                    // as planned
                }
                final CatalogueStore next = catalogueOver(inner);
                final int id = next.create("a", new byte[] {2}).id();
                assertThat(id).isNotEqualTo(before);
                assertThat(next.create("b", new byte[0]).id()).isNotIn(id, before);
                assertThat(next.list()).hasSize(3);
            }
        }
    }

    @Test
    void shouldBeResumableWhereverADestructionStops() {
        for (int changes = 0; changes < 2; changes++) {
            for (boolean applied : new boolean[] {false, true}) {
                for (boolean atStart : new boolean[] {false, true}) {
                    final MemoryConfigurationStore inner = new MemoryConfigurationStore();
                    final int id = catalogueOver(inner).create("a", new byte[0]).id();
                    destroyed.clear();
                    try {
                        catalogueOver(new DyingStore(inner, changes, applied)).destroy("a");
                    } catch (ProcessDied e) {
                        // as planned
                    }
                    final CatalogueStore next = catalogueOver(inner);
                    final boolean begun = changes > 0 || applied;
                    assertThat(next.find("a") == null).isEqualTo(begun);
                    // Client ports refuse unlisted ids: the log of a shard may have lost the destroying entry.
                    assertThat(next.list().isEmpty()).isEqualTo(begun);
                    if (atStart) {
                        next.resume();
                        assertThat(inner.list("/catalogue/caches")).hasSize(begun ? 0 : 1);
                        next.destroy("a");
                    } else if (!begun) {
                        assertThat(next.destroy("a")).isTrue();
                    }
                    // Before the name is used again, the old id is refused everywhere.
                    assertThat(next.create("a", new byte[0]).id()).isNotEqualTo(id);
                    assertThat(destroyed).contains(id);
                }
            }
        }
    }

    @Test
    void shouldReplaceTheContentOfACache() {
        final int before = catalogue.create("a", new byte[] {1}).id();
        final CacheLimit limit = new CacheLimit(7, 9);
        catalogue.limit("a", limit);
        final int spare = catalogue.spare();
        assertThat(spare).isNotEqualTo(before);
        assertThat(catalogue.list()).extracting(StoredCache::id).containsExactly(before);
        assertThat(catalogue.replace("other", spare, new byte[0])).isNull();
        final StoredCache replaced = catalogue.replace("a", spare, new byte[] {2});
        assertThat(replaced.id()).isEqualTo(spare);
        assertThat(replaced.limit()).isEqualTo(limit);
        assertThat(catalogue.find("a").descriptor()).isEqualTo(new byte[] {2});
        assertThat(destroyed).containsExactly(before);
        assertThat(nodes.list("/catalogue/caches")).hasSize(1);
        final int unused = catalogue.spare();
        catalogue.endSpare(unused);
        assertThat(destroyed).containsExactly(before, unused);
        assertThat(nodes.list("/catalogue/caches")).hasSize(1);
    }

    /** A process that dies at its n-th change: the cache has one content, and the next start destroys the other. */
    @Test
    void shouldHaveOneContentWhereverAReplacementStops() {
        int replaced = 0;
        int kept = 0;
        for (int changes = 0; changes < 7; changes++) {
            for (boolean applied : new boolean[] {false, true}) {
                final MemoryConfigurationStore inner = new MemoryConfigurationStore();
                final int before =
                        catalogueOver(inner).create("a", new byte[] {1}).id();
                destroyed.clear();
                int spare = before + 1;
                try {
                    final CatalogueStore dying = catalogueOver(new DyingStore(inner, changes, applied));
                    spare = dying.spare();
                    dying.replace("a", spare, new byte[] {2});
                } catch (ProcessDied e) {
                    // as planned
                }
                final StoredCache found = catalogueOver(inner).find("a");
                assertThat(destroyed).doesNotContain(found.id());
                catalogueOver(inner).resume();
                final boolean isNew = found.id() == spare;
                assertThat(found.descriptor()).isEqualTo(new byte[] {(byte) (isNew ? 2 : 1)});
                assertThat(catalogueOver(inner).find("a").id()).isEqualTo(found.id());
                // An id without a node has no content yet.
                assertThat(destroyed).doesNotContain(found.id());
                if (isNew) {
                    assertThat(destroyed).contains(before);
                    replaced++;
                } else {
                    kept++;
                }
                assertThat(inner.list("/catalogue/caches")).hasSize(1);
                assertThat(catalogueOver(inner).create("b", new byte[0]).id()).isGreaterThan(found.id());
            }
        }
        assertThat(replaced).isGreaterThan(3);
        assertThat(kept).isGreaterThan(3);
    }

    @Test
    void shouldNotLoseADestructionWhoseDestroyerFailed() {
        final AtomicInteger calls = new AtomicInteger();
        final CatalogueStore failing = new CatalogueStore(nodes, "test", new SplittableRandomSource(1), id -> {
            if (calls.incrementAndGet() == 1) {
                throw new IllegalStateException("the store is full");
            }
        });
        final int id = failing.create("a", new byte[0]).id();
        assertThatThrownBy(() -> failing.destroy("a")).hasMessageContaining("full");
        assertThat(failing.find("a")).isNull();
        assertThat(failing.create("a", new byte[0]).id()).isNotEqualTo(id);
        assertThat(calls).hasValue(2);
    }

    /** A late helper that saw the mark before the name was used again removes nothing. */
    @Test
    void shouldNotLetALateHelperTouchTheNextCacheOfTheName() {
        catalogue.create("a", new byte[0]);
        final List<Integer> second = new ArrayList<>();
        final AtomicInteger calls = new AtomicInteger();
        final CatalogueStore dying = new CatalogueStore(nodes, "dying", new SplittableRandomSource(3), id -> {
            throw new ProcessDied();
        });
        final CatalogueStore late = new CatalogueStore(nodes, "late", new SplittableRandomSource(2), id -> {
            if (calls.incrementAndGet() == 1) {
                // Meanwhile another process completes it, creates the name again, and dies while destroying that one.
                catalogue.resume();
                second.add(catalogue.create("a", new byte[] {2}).id());
                assertThatThrownBy(() -> dying.destroy("a")).isInstanceOf(ProcessDied.class);
            }
        });
        assertThat(late.destroy("a")).isTrue();
        assertThat(destroyed).doesNotContainAnyElementsOf(second);
        catalogue.resume();
        assertThat(destroyed).containsAll(second);
        assertThat(nodes.list("/catalogue/caches")).isEmpty();
    }

    /** An ambiguous compare-and-set is read back and recognised by its stamp. */
    @Test
    void shouldRecogniseItsOwnWriteAfterALostAnswer() {
        final CatalogueStore unlucky = catalogueOver(new ForgetfulStore(nodes));
        final StoredCache cache = unlucky.create("a", new byte[] {1});
        assertThat(cache.id()).isEqualTo(1);
        assertThat(catalogue.find("a").id()).isEqualTo(1);
        assertThat(unlucky.destroy("a")).isTrue();
        assertThat(destroyed).containsExactly(1);
    }

    @Test
    void shouldSayWhichNodeIsDamaged() {
        catalogue.create("a", new byte[] {1, 2});
        final String path = "/catalogue/caches/n_a";
        final byte[] bytes = nodes.read(path).bytes();
        for (int bit = 0; bit < bytes.length * Byte.SIZE; bit++) {
            final byte[] damaged = bytes.clone();
            damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThat(CacheNodeDescriptor.whyInvalid(damaged))
                    .as("bit %d", bit)
                    .isNotNull();
        }
        bytes[10] ^= 1;
        nodes.compareAndSet(path, nodes.read(path).version(), bytes, new Stamp("x", 1));
        assertThatThrownBy(() -> catalogue.find("a"))
                .isInstanceOf(ConfigurationStoreException.class)
                .hasMessageContaining("checksum");
    }

    private static final class ProcessDied extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** Dies at its n-th change, before or after it was applied. */
    private static final class DyingStore extends ForwardingStore {
        private final boolean applied;
        private int left;

        DyingStore(ConfigurationStore inner, int changes, boolean applied) {
            super(inner);
            this.left = changes;
            this.applied = applied;
        }

        @Override
        public boolean compareAndSet(String path, long expectedVersion, byte[] bytes, Stamp stamp) {
            requireAlive(() -> super.compareAndSet(path, expectedVersion, bytes, stamp));
            return super.compareAndSet(path, expectedVersion, bytes, stamp);
        }

        @Override
        public boolean delete(String path, long expectedVersion) {
            requireAlive(() -> super.delete(path, expectedVersion));
            return super.delete(path, expectedVersion);
        }

        private void requireAlive(Runnable change) {
            if (left-- == 0) {
                if (applied) {
                    change.run();
                }
                throw new ProcessDied();
            }
        }
    }

    /** Applies every second change and loses the answer. */
    private static final class ForgetfulStore extends ForwardingStore {
        ForgetfulStore(ConfigurationStore inner) {
            super(inner);
        }

        @Override
        public boolean compareAndSet(String path, long expectedVersion, byte[] bytes, Stamp stamp) {
            if (super.compareAndSet(path, expectedVersion, bytes, stamp)) {
                throw new ConfigurationStoreException("connection lost");
            }
            return false;
        }
    }

    private abstract static class ForwardingStore implements ConfigurationStore {
        private final ConfigurationStore inner;

        ForwardingStore(ConfigurationStore inner) {
            this.inner = inner;
        }

        @Override
        public @Nullable VersionedNode read(String path) {
            return inner.read(path);
        }

        @Override
        public boolean compareAndSet(String path, long expectedVersion, byte[] bytes, Stamp stamp) {
            return inner.compareAndSet(path, expectedVersion, bytes, stamp);
        }

        @Override
        public boolean delete(String path, long expectedVersion) {
            return inner.delete(path, expectedVersion);
        }

        @Override
        public List<String> list(String prefix) {
            return inner.list(prefix);
        }

        @Override
        public void close() {
            inner.close();
        }
    }
}
