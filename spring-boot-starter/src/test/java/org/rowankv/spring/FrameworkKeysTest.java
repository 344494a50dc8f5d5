package org.rowankv.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ObjectInputStream;
import java.io.Serializable;
import java.net.URI;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import org.hibernate.cache.internal.BasicCacheKeyImplementation;
import org.hibernate.cache.internal.CacheKeyImplementation;
import org.hibernate.cache.internal.NaturalIdCacheKey;
import org.hibernate.cache.spi.QueryKey;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.codec.ClassNotAllowedException;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.springframework.cache.interceptor.SimpleKey;

/** The key classes of frameworks, which no list names: a key that was made anew finds the entry. */
final class FrameworkKeysTest {
    private static void requireFound(Object key, Object equal, Object other) {
        final Properties properties = new Properties();
        properties.setProperty("rowan.allowed-classes", "org.rowankv.**");
        try (CacheManager manager =
                new RowanCachingProvider().getCacheManager(URI.create("rowan:embedded?name=keys"), null, properties)) {
            final Cache<Object, Object> cache = manager.createCache("keys", new MutableConfiguration<>());
            cache.put(key, 1);
            assertThat(cache.get(equal)).isEqualTo(1);
            assertThat(cache.get(other)).isNull();
            assertThat(cache.iterator().next().getKey()).hasSameClassAs(key);
            assertThat(cache.remove(equal)).isTrue();
            assertThat(cache.containsKey(key)).isFalse();
        }
    }

    @Test
    void shouldFindSpringsKeysOfSeveralArguments() {
        final String same = "a";
        requireFound(
                new SimpleKey(same, same, null, new Object[] {1L}),
                new SimpleKey(new StringBuilder("a").toString(), same, null, new Object[] {1L}),
                new SimpleKey(same, same, null, new Object[] {1}));
        requireFound(SimpleKey.EMPTY, new SimpleKey(), new SimpleKey((Object) null));
    }

    /** A stored hash code may be another one in another JVM: that of an enum is. */
    @Test
    void shouldFindHibernatesKeysWhateverHashCodeIsInThem() {
        requireFound(
                new BasicCacheKeyImplementation(1L, "app.Book", 31),
                new BasicCacheKeyImplementation(1L, "app.Book", 32),
                new BasicCacheKeyImplementation(1L, "app.Author", 31));
        requireFound(
                new CacheKeyImplementation(new Isbn("978", 1), "app.Book", "tenant", 31),
                new CacheKeyImplementation(new Isbn("978", 1), "app.Book", "tenant", 32),
                new CacheKeyImplementation(new Isbn("978", 2), "app.Book", "tenant", 31));
        requireFound(
                new NaturalIdCacheKey(new Object[] {"978", 1}, "app.Book", null, 31),
                new NaturalIdCacheKey(new Object[] {"978", 1}, "app.Book", null, 32),
                new NaturalIdCacheKey(new Object[] {"978", 2}, "app.Book", null, 31));
    }

    private record Isbn(String prefix, int number) implements Serializable {}

    @Test
    void shouldFindHibernatesKeysOfQueries() {
        requireFound(queryKey("from A", 7), queryKey("from ".concat("A"), 7), queryKey("from A", 8));
    }

    private static QueryKey queryKey(String sql, int number) {
        return new QueryKey(sql, new Parameters(List.of(number, "x")), 0, 10, Set.of("filter"));
    }

    /** As Hibernate's own, which only a session makes. */
    private record Parameters(List<Object> values) implements QueryKey.ParameterBindingsMemento {}

    private static final AtomicInteger READS = new AtomicInteger();

    private static final class Gadget implements Serializable {
        private static final long serialVersionUID = 1L;

        private void readObject(ObjectInputStream in) {
            READS.incrementAndGet();
        }
    }

    private static CacheManager managerOfOneStore(Properties properties) {
        return new RowanCachingProvider()
                .getCacheManager(URI.create("rowan:embedded?name=gadgets&capacity=64m"), null, properties);
    }

    /** Classes that are always allowed do not bring others with them. */
    @Test
    void shouldReadNoGadgetInsideOfWhatFrameworksMake() {
        final Gadget gadget = new Gadget();
        final List<Object> payloads = List.of(
                gadget,
                new SimpleKey(gadget),
                new SimpleKey("a", new Object[] {gadget}),
                new BasicCacheKeyImplementation(gadget, "app.Book", 1),
                new NaturalIdCacheKey(new Object[] {gadget}, "app.Book", null, 1),
                new QueryKey("sql", new Parameters(List.of(gadget)), 0, 1, Set.of()));
        final Properties closing = new Properties();
        closing.setProperty("rowan.allowed-classes", Parameters.class.getName());
        READS.set(0);
        try (CacheManager open = managerOfOneStore(new Properties());
                CacheManager closed = managerOfOneStore(closing)) {
            final Cache<Integer, Object> writer = open.createCache("gadgets", new MutableConfiguration<>());
            final Cache<Integer, Object> reader = closed.createCache("gadgets", new MutableConfiguration<>());
            for (int i = 0; i < payloads.size(); i++) {
                final int key = i;
                writer.put(i, payloads.get(i));
                assertThatThrownBy(() -> reader.get(key)).isInstanceOf(ClassNotAllowedException.class);
            }
            assertThat(READS).as("times that code of a gadget ran").hasValue(0);
            assertThat(writer.get(1)).isNotNull();
            assertThat(READS).as("times that it ran where it is allowed").hasPositiveValue();
        }
    }
}
