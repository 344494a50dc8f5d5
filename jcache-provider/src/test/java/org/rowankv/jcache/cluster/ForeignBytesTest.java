package org.rowankv.jcache.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.jcache.codec.ClassNotAllowedException;
import org.rowankv.jcache.codec.ClassRules;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.codec.KeyFormat;
import org.rowankv.jcache.codec.LoaderReference;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPortSettings;

/** What another client wrote: objects of the declared types are read, and no others come to life. */
final class ForeignBytesTest {
    record Book(String title, List<Object> notes) implements Serializable {}

    record Author(String name) implements Serializable {}

    record Review(Author author, Stars stars, Map<String, Author[]> likes) implements Serializable {}

    enum Stars {
        FIVE
    }

    /** Writes whatever it likes. */
    private final Codec foreign = new Codec(
            new LoaderReference(getClass().getClassLoader()),
            new ClassRules(List.of(), foreignClasses()),
            KeyFormat.STRUCTURAL,
            false);

    private EmbeddedCluster cluster;
    private EmbeddedPorts ports;

    private static String foreignClasses() {
        return "**;javax.management.BadAttributeValueExpException";
    }

    @BeforeEach
    void open() {
        cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = 2;
            with.replicas = 2;
        }));
        ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
    }

    @AfterEach
    void close() {
        ports.close();
        cluster.close();
    }

    private CacheManager remote() {
        return new RowanCachingProvider()
                .getCacheManager(URI.create("rowan://" + String.join(",", ports.addresses()) + "/"), null);
    }

    private byte[] bytes(Object value) {
        final ByteSink sink = new ByteSink(64);
        foreign.encode(value, sink);
        return sink.toBytes();
    }

    private static <V> Cache<String, V> cache(CacheManager manager, Class<V> type) {
        return manager.createCache("books", new MutableConfiguration<String, V>().setTypes(String.class, type));
    }

    /** By every way of reading. */
    private <V> void shouldReadNoGadget(CacheManager manager, Class<V> type) {
        final Cache<String, V> cache = cache(manager, type);
        final RowanClient raw = manager.unwrap(RowanClient.class);
        final int id = raw.catalogue().find("books").id();
        final List<Object> gadgets = Gadgets.all();
        for (int i = 0; i < gadgets.size(); i++) {
            raw.put(id, bytes("gadget " + i), bytes(gadgets.get(i)));
        }
        assertThat(gadgets.size()).isEqualTo(200);
        Gadgets.RUNS.set(0);
        for (int i = 0; i < gadgets.size(); i++) {
            final String key = "gadget " + i;
            for (Runnable read : List.<Runnable>of(
                    () -> cache.get(key),
                    () -> cache.getAll(Set.of(key)),
                    () -> cache.invoke(key, (entry, arguments) -> entry.getValue()))) {
                try {
                    read.run();
                } catch (CacheException e) {
                    assertThat(e).as(key).isNotNull();
                }
            }
            assertThatThrownBy(() -> cache.get(key))
                    .as("%s %s", key, gadgets.get(i).getClass())
                    .isInstanceOf(ClassNotAllowedException.class)
                    .hasMessageContaining("rowan.allowed-classes=");
        }
        assertThatThrownBy(() -> cache.forEach(entry -> assertThat(entry).isNotNull()))
                .isInstanceOf(ClassNotAllowedException.class);
        System.out.println("gadgets: payloads=" + gadgets.size() + " deserialized=" + Gadgets.RUNS.get());
        assertThat(Gadgets.RUNS).as("code of gadgets that ran").hasValue(0);
    }

    /** What {@link #shouldReadNoGadget} counts. */
    @Test
    void shouldRunGadgetsWhereTheyAreAllowed() {
        Gadgets.RUNS.set(0);
        for (Object gadget : Gadgets.all()) {
            final byte[] bytes = bytes(gadget);
            try {
                assertThat(foreign.decode(bytes, 0, bytes.length)).isNotNull();
            } catch (CacheException e) {
                assertThat(e).as("its own code may fail").isNotNull();
            }
        }
        assertThat(Gadgets.RUNS).hasValueGreaterThan(150);
    }

    @Test
    void shouldNotDeserializeGadgetsOfAnotherClientOfTheCluster() {
        try (CacheManager manager = remote()) {
            shouldReadNoGadget(manager, Book.class);
        }
    }

    @Test
    void shouldNotDeserializeGadgetsWhereNoTypesAreDeclared() {
        try (CacheManager manager = remote()) {
            shouldReadNoGadget(manager, Object.class);
        }
    }

    @Test
    void shouldNotDeserializeGadgetsInAnEmbeddedStoreWithAList() {
        try (CacheManager manager = new RowanCachingProvider()
                .getCacheManager(
                        URI.create("rowan:embedded?name=gadgets&capacity=64m&allowed-classes=" + Book.class.getName()),
                        null)) {
            shouldReadNoGadget(manager, Object.class);
        }
    }

    /** Nothing that this client did before allows the classes: the declared type does. */
    @Test
    void shouldReadDeclaredTypesBeforeItWritesAny() {
        final Review review = new Review(new Author("Ada"), Stars.FIVE, Map.of("x", new Author[] {new Author("Bob")}));
        try (CacheManager writer = remote();
                CacheManager reader = remote()) {
            cache(writer, Review.class).put("k", review);
            final Review read = cache(reader, Review.class).get("k");
            assertThat(read.author()).isEqualTo(review.author());
            assertThat(read.likes().get("x")).containsExactly(new Author("Bob"));
        }
    }

    @Test
    void shouldSayOfARemoteCacheWithoutTypesWhatToPaste() {
        try (CacheManager manager = remote()) {
            final Cache<String, Object> cache = cache(manager, Object.class);
            cache.put("jdk", new ArrayList<>(Arrays.asList(1, "x")));
            assertThatThrownBy(() -> cache.put("k", new Author("Ada")))
                    .isInstanceOf(ClassNotAllowedException.class)
                    .hasMessageEndingWith("or set rowan.allowed-classes=" + Author.class.getName());
        }
    }
}
