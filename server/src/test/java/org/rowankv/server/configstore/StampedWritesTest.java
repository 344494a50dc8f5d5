package org.rowankv.server.configstore;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.SplittableRandomSource;

/**
 * A change is reported as made if and only if it was made, whichever writer preceded it, and wherever the connection
 * breaks.
 */
final class StampedWritesTest {
    private static final String PATH = "/a";

    /** Its connection breaks before a change arrives, or before its answer does. */
    private static final class Breaking implements ConfigurationStore {
        private final MemoryConfigurationStore inner = new MemoryConfigurationStore();
        private boolean before;
        private boolean behind;

        @Override
        public @Nullable VersionedNode read(String path) {
            return inner.read(path);
        }

        @Override
        public boolean compareAndSet(
                String path, long expectedVersion, byte[] bytes, Stamp stamp, @Nullable NodeVersion condition) {
            if (before) {
                throw new ConfigurationStoreException("the connection broke before");
            }
            final boolean made = inner.compareAndSet(path, expectedVersion, bytes, stamp, condition);
            if (behind) {
                throw new ConfigurationStoreException("the connection broke after");
            }
            return made;
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

    @Property(tries = 300)
    void shouldCountAChangeAsMadeIfItWasMade(@ForAll long seed) {
        final Random random = new Random(seed);
        final Breaking store = new Breaking();
        final StampedWrites one = new StampedWrites(store, "one", new SplittableRandomSource(seed));
        final StampedWrites other = new StampedWrites(store, "other", new SplittableRandomSource(seed + 1));
        for (byte i = 1; i < 30; i++) {
            store.before = random.nextInt(3) == 0;
            store.behind = random.nextInt(3) == 0;
            final VersionedNode node = store.read(PATH);
            final long present = node == null ? ConfigurationStore.ABSENT : node.version();
            final long expected = random.nextInt(4) == 0 ? present + 1 : present;
            final byte[] bytes = {i};
            boolean saidMade = false;
            boolean failed = false;
            try {
                saidMade = (random.nextInt(3) == 0 ? other : one).compareAndSet(PATH, expected, bytes);
            } catch (ConfigurationStoreException e) {
                failed = true;
            }
            final VersionedNode now = store.read(PATH);
            final boolean made = now != null && now.bytes()[0] == i;
            assertThat(saidMade).isEqualTo(made);
            assertThat(failed).isEqualTo(!made && (store.before || store.behind));
        }
    }
}
