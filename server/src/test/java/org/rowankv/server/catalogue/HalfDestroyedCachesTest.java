package org.rowankv.server.catalogue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.configstore.MemoryConfigurationStore;

/**
 * Repeatedly interrupted destructions, compared with a model. A marked cache is not found and receives nothing, and its
 * node stays until the destroyer has returned.
 */
final class HalfDestroyedCachesTest {
    private static final List<String> NAMES = List.of("a", "b", "c");

    private static final class ServersAway extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** A cache, until its node is deleted. */
    private static final class Known {
        private final int id;
        private CacheLimit limit = CacheLimit.NONE;
        private boolean marked;

        Known(int id) {
            this.id = id;
        }
    }

    private static final class Run {
        private final Random random;
        private final MemoryConfigurationStore nodes = new MemoryConfigurationStore();
        private final Set<Integer> destroyed = new HashSet<>();
        private final Set<Integer> given = new HashSet<>();
        private final Map<String, Known> known = new TreeMap<>();
        private boolean away;
        private final CatalogueStore catalogue =
                new CatalogueStore(nodes, "test", new SplittableRandomSource(1), this::destroy);

        Run(long seed) {
            random = new Random(seed);
        }

        private void destroy(int id) {
            if (away) {
                throw new ServersAway();
            }
            destroyed.add(id);
        }

        private @Nullable Known live(String name) {
            final Known cache = known.get(name);
            return cache == null || cache.marked ? null : cache;
        }

        /** Marked caches are removed, unless the servers are unreachable. */
        private void finished(String name) {
            final Known cache = known.get(name);
            if (cache != null && cache.marked && !away) {
                known.remove(name);
            }
        }

        private void step() {
            final String name = NAMES.get(random.nextInt(NAMES.size()));
            away = random.nextInt(3) == 0;
            final Known before = live(name);
            try {
                switch (random.nextInt(5)) {
                    case 0 -> create(name, before);
                    case 1 -> limit(name, before);
                    case 2 -> {
                        if (before != null) {
                            before.marked = true;
                        }
                        assertThat(catalogue.destroy(name)).isEqualTo(before != null);
                        finished(name);
                    }
                    case 3 -> {
                        catalogue.resume();
                        NAMES.forEach(this::finished);
                    }
                    default -> {
                        final StoredCache found = catalogue.find(name);
                        assertThat(found == null).isEqualTo(before == null);
                        assertThat(found == null || found.limit().equals(before.limit))
                                .isTrue();
                    }
                }
            } catch (ServersAway e) {
                assertThat(away).isTrue();
            }
        }

        private void create(String name, @Nullable Known before) {
            final StoredCache created = catalogue.create(name, new byte[0]);
            if (before == null) {
                assertThat(given.add(created.id())).as("an id is assigned once").isTrue();
                known.put(name, new Known(created.id()));
            } else {
                assertThat(created.id()).isEqualTo(before.id);
                assertThat(created.limit()).isEqualTo(before.limit);
            }
        }

        private void limit(String name, @Nullable Known before) {
            final CacheLimit limit = new CacheLimit(1 + random.nextInt(9), 0);
            final StoredCache limited = catalogue.limit(name, limit);
            assertThat(limited == null).as("limited").isEqualTo(before == null);
            if (before != null) {
                before.limit = limit;
            }
        }

        private void check() {
            assertThat(catalogue.list())
                    .extracting(StoredCache::id)
                    .containsExactlyInAnyOrderElementsOf(known.values().stream()
                            .filter(each -> !each.marked)
                            .map(each -> each.id)
                            .toList());
            assertThat(nodes.list("/catalogue/caches")).hasSize(known.size());
            final Set<Integer> gone = new HashSet<>(given);
            known.values().forEach(each -> gone.remove(each.id));
            assertThat(destroyed).as("no marked node is left").containsAll(gone);
            assertThat(catalogue.retiredIds().stream().boxed()).containsExactlyInAnyOrderElementsOf(gone);
        }
    }

    @Property(tries = 200)
    void shouldFindAndGiveNothingOfWhatHasBegunToGo(@ForAll long seed) {
        final Run run = new Run(seed);
        for (int i = 0; i < 60; i++) {
            run.step();
            run.check();
        }
    }
}
