package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.jcache.codec.KeyClassException;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** Equal keys are one key of a cache, however they were made; each cache keeps the format its keys were made with. */
final class EqualKeysTest {
    private record Pair(String a, String b) {}

    private static final class NoEquals implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    @TempDir
    private Path dir;

    private CacheManager manager(String... properties) {
        final Properties given = new Properties();
        given.setProperty("rowan.dir", dir.toString());
        given.setProperty("rowan.allowed-classes", "org.rowankv.**");
        for (int i = 0; i < properties.length; i += 2) {
            given.setProperty(properties[i], properties[i + 1]);
        }
        return new RowanCachingProvider().getCacheManager(URI.create("rowan:embedded"), null, given);
    }

    private static Cache<Object, String> create(CacheManager manager) {
        return manager.createCache(
                "keys", new MutableConfiguration<Object, String>().setTypes(Object.class, String.class));
    }

    @Test
    void shouldFindAndRemoveByAnEqualKey() {
        final String same = "x";
        final String copy = new StringBuilder("x").toString();
        final Map<Object, Object> keys = Map.of(
                new Pair(same, same),
                new Pair(same, copy),
                List.of(1, "a"),
                new ArrayList<>(Arrays.asList(1, "a")),
                Set.of(1, 2, 3),
                new LinkedHashSet<>(List.of(3, 1, 2)));
        try (CacheManager manager = manager()) {
            final Cache<Object, String> cache = create(manager);
            keys.forEach((key, equal) -> {
                cache.put(key, "value");
                assertThat(cache.get(equal)).isEqualTo("value");
                assertThat(cache.getAll(Set.of(equal))).containsEntry(key, "value");
                assertThat(cache.putIfAbsent(equal, "other")).isFalse();
                assertThat(cache.iterator().next().getKey()).isEqualTo(key);
                assertThat(cache.remove(equal)).isTrue();
                assertThat(cache.containsKey(key)).isFalse();
            });
        }
    }

    @Test
    void shouldRefuseAKeyWithoutEqualsAndLeaveTheCacheAsItIs() {
        try (CacheManager manager = manager()) {
            final Cache<Object, String> cache = create(manager);
            assertThatThrownBy(() -> cache.put(new NoEquals(), "value"))
                    .isInstanceOf(KeyClassException.class)
                    .hasMessageContaining("no equals of its own");
            assertThat(cache.iterator().hasNext()).isFalse();
        }
    }

    @Test
    void shouldTakeAnyKeyWhereATemplateSaysSerialized() {
        try (CacheManager manager = manager("rowan.template.keys.keys", "serialized")) {
            final Cache<Object, String> cache = create(manager);
            cache.put(new NoEquals(), "value");
            assertThat(cache.get(new NoEquals())).isEqualTo("value");
        }
    }

    @Test
    void shouldKeepTheFormatThatACacheWasMadeWith() {
        try (CacheManager manager = manager("rowan.template.keys.keys", "serialized")) {
            create(manager).put(new NoEquals(), "value");
        }
        try (CacheManager manager = manager()) {
            assertThat(create(manager).get(new NoEquals())).isEqualTo("value");
        }
        try (CacheManager manager = manager("rowan.template.keys.keys", "structural")) {
            assertThatThrownBy(() -> create(manager))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("there keys java.lang.Object (serialized)")
                    .hasMessageContaining("here keys java.lang.Object (structural)");
        }
    }
}
