package org.rowankv.jcache.codec.custom;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryListenerException;
import javax.cache.event.CacheEntryRemovedListener;
import javax.cache.event.CacheEntryUpdatedListener;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** All that a cache does, with values that an application's codec writes. */
class CodecInUseTest {
    private static final AtomicInteger WRITTEN = new AtomicInteger();
    private static final AtomicInteger READ = new AtomicInteger();

    /** A value that nothing can change. */
    public record Note(String text) {}

    /** Writes equal values differently. Some texts make it fail. */
    public static final class NoteCodec implements ValueCodec {
        @Override
        public String name() {
            return "note";
        }

        @Override
        public boolean takes(Class<?> type) {
            return type == Note.class;
        }

        @Override
        public void encode(Object value, OutputStream out, ClassLoader loader, Predicate<Class<?>> allowed)
                throws IOException {
            final String text = ((Note) value).text();
            out.write((WRITTEN.incrementAndGet() + ":" + text).getBytes(StandardCharsets.UTF_8));
            switch (text) {
                case "unwritable" -> throw new IOException("no ink");
                case "unlinked" -> throw new NoClassDefFoundError("a/b/C");
                default -> {}
            }
        }

        @Override
        public Object decode(InputStream in, ClassLoader loader, Predicate<Class<?>> allowed) throws IOException {
            READ.incrementAndGet();
            final String bytes = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            final String text = bytes.substring(bytes.indexOf(':') + 1);
            if (text.equals("unreadable")) {
                throw new IOException("no glasses");
            }
            return new Note(text);
        }
    }

    /** Which nothing can make. */
    public static final class BrokenCodec implements ValueCodec {
        private BrokenCodec() {}

        @Override
        public String name() {
            return "broken";
        }

        @Override
        public boolean takes(Class<?> type) {
            return false;
        }

        @Override
        public void encode(Object value, OutputStream out, ClassLoader loader, Predicate<Class<?>> allowed) {}

        @Override
        public Object decode(InputStream in, ClassLoader loader, Predicate<Class<?>> allowed) {
            return "";
        }
    }

    /** Takes down what it is given. */
    public static final class Listener
            implements CacheEntryCreatedListener<String, Object>,
                    CacheEntryUpdatedListener<String, Object>,
                    CacheEntryRemovedListener<String, Object> {
        private static final List<String> HEARD = new CopyOnWriteArrayList<>();

        private static void hear(Iterable<CacheEntryEvent<? extends String, ?>> events) {
            for (CacheEntryEvent<? extends String, ?> event : events) {
                HEARD.add(event.getEventType() + " " + brief(event.getOldValue()) + " " + brief(event.getValue()));
            }
        }

        private static String brief(Object value) {
            if (!(value instanceof Note note)) {
                return String.valueOf(value);
            }
            return note.text().length() > 99 ? note.text().length() + " characters" : note.text();
        }

        @Override
        public void onCreated(Iterable<CacheEntryEvent<? extends String, ?>> events) {
            hear(events);
        }

        @Override
        public void onUpdated(Iterable<CacheEntryEvent<? extends String, ?>> events) {
            hear(events);
        }

        @Override
        public void onRemoved(Iterable<CacheEntryEvent<? extends String, ?>> events) {
            hear(events);
        }
    }

    @TempDir
    Path directory;

    private final RowanCachingProvider provider = new RowanCachingProvider();
    private URLClassLoader classes;

    @BeforeEach
    void begin() throws IOException {
        classes = with(NoteCodec.class);
        WRITTEN.set(0);
        READ.set(0);
        Listener.HEARD.clear();
    }

    private URLClassLoader with(Class<?> codec) throws IOException {
        final Path services = Files.createDirectories(
                directory.resolve("classes of " + codec.getSimpleName()).resolve("META-INF/services"));
        Files.writeString(services.resolve(ValueCodec.class.getName()), codec.getName());
        return new URLClassLoader(
                new URL[] {services.getParent().getParent().toUri().toURL()},
                getClass().getClassLoader());
    }

    @AfterEach
    void close() throws IOException {
        provider.close();
        classes.close();
    }

    private CacheManager manager(String parameters) {
        return provider.getCacheManager(
                URI.create("rowan:embedded?template.c.codec=note" + parameters), classes, new Properties());
    }

    private Cache<String, Object> open(String parameters) {
        return manager(parameters).createCache("c", new MutableConfiguration<>());
    }

    private static void listen(Cache<String, Object> cache) {
        cache.registerCacheEntryListener(
                new MutableCacheEntryListenerConfiguration<String, Object>(Listener::new, null, true, true));
    }

    @Test
    void shouldCompareValuesAsEqualsSays() {
        final Cache<String, Object> cache = open("");
        cache.put("k", new Note("one"));
        assertThat(cache.replace("k", new Note("two"), new Note("three"))).isFalse();
        assertThat(cache.replace("k", new Note("one"), new Note("two"))).isTrue();
        assertThat(cache.remove("k", new Note("one"))).isFalse();
        assertThat(cache.getAndReplace("k", new Note("three"))).isEqualTo(new Note("two"));
        assertThat(cache.remove("k", new Note("three"))).isTrue();
        assertThat(cache.putIfAbsent("k", new Note("one"))).isTrue();
        cache.putAll(Map.of("l", new Note("two")));
        assertThat(cache.getAll(Set.of("k", "l"))).isEqualTo(Map.of("k", new Note("one"), "l", new Note("two")));
        final Map<String, Object> all = new HashMap<>();
        cache.forEach(each -> all.put(each.getKey(), each.getValue()));
        assertThat(all).isEqualTo(Map.of("k", new Note("one"), "l", new Note("two")));
    }

    @Test
    void shouldServeProcessors() {
        final Cache<String, Object> cache = open("");
        cache.put("k", new Note("one"));
        final Object before = cache.invoke("k", (entry, arguments) -> {
            final Object value = entry.getValue();
            entry.setValue(new Note(((Note) value).text() + " more"));
            return value;
        });
        assertThat(before).isEqualTo(new Note("one"));
        assertThat(cache.get("k")).isEqualTo(new Note("one more"));
        for (String text : List.of("unwritable", "unlinked")) {
            assertThatThrownBy(() -> cache.invoke("k", (entry, arguments) -> {
                        entry.setValue(new Note(text));
                        return null;
                    }))
                    .isInstanceOf(CacheException.class)
                    .hasStackTraceContaining("codec note");
            assertThat(cache.get("k")).isEqualTo(new Note("one more"));
        }
        cache.put("k", new Note("unreadable"));
        assertThatThrownBy(() -> cache.invoke("k", (entry, arguments) -> entry.getValue()))
                .isInstanceOf(CacheException.class)
                .hasStackTraceContaining("no glasses");
        cache.put("k", new Note("readable"));
        assertThat(cache.get("k")).isEqualTo(new Note("readable"));
    }

    @Test
    void shouldGiveListenersWhatItReads() {
        final Cache<String, Object> cache = open("&capacity=192m&segment=1m");
        listen(cache);
        cache.put("k", new Note("one"));
        cache.put("k", new Note("two"));
        cache.put("k", new Note("x".repeat(3 << 20)));
        cache.remove("k");
        assertThat(Listener.HEARD)
                .startsWith("CREATED null one", "UPDATED one two", "UPDATED two 3145728 characters")
                .hasSize(4);
        assertThat(Listener.HEARD.get(3)).startsWith("REMOVED ");
    }

    @Test
    void shouldStoreWhatAListenerCannotRead() {
        final Cache<String, Object> cache = open("");
        listen(cache);
        assertThatThrownBy(() -> cache.put("k", new Note("unreadable")))
                .isInstanceOf(CacheEntryListenerException.class)
                .hasStackTraceContaining("no glasses");
        assertThat(cache.containsKey("k")).isTrue();
        cache.put("l", new Note("readable"));
        assertThat(Listener.HEARD).containsExactly("CREATED null readable");
    }

    @Test
    void shouldKeepValuesInParts() {
        final Cache<String, Object> cache = open("&capacity=192m&segment=1m&max-value=8m");
        cache.put("k", new Note("small"));
        for (int megabytes = 7; megabytes > 1; megabytes -= 2) {
            final Note big = new Note("é".repeat(megabytes << 19));
            cache.put("k", big);
            assertThat(big.equals(cache.get("k"))).isTrue();
            final Object length = cache.invoke(
                    "k", (entry, arguments) -> ((Note) entry.getValue()).text().length());
            assertThat(length).isEqualTo(megabytes << 19);
        }
        assertThatThrownBy(() -> cache.put("k", new Note("x".repeat(9 << 20))))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("max-value");
        assertThat(((Note) cache.get("k")).text()).hasSize(3 << 19);
        cache.put("k", new Note("small"));
        assertThat(cache.get("k")).isEqualTo(new Note("small"));
    }

    @Test
    void shouldReadAKeptValueOnce() {
        final Cache<String, Object> cache = open("&template.c.near=validated");
        cache.put("k", new Note("one"));
        final Object first = cache.get("k");
        assertThat(cache.get("k")).isSameAs(first).isEqualTo(new Note("one"));
        assertThat(READ).hasValue(1);
        cache.put("k", new Note("two"));
        assertThat(cache.get("k")).isEqualTo(new Note("two"));
        cache.put("k", new Note("unreadable"));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> cache.get("k")).isInstanceOf(CacheException.class);
        }
        cache.put("k", new Note("three"));
        assertThat(cache.get("k")).isEqualTo(new Note("three"));
        cache.removeAll();
        assertThat(cache.get("k")).isNull();
    }

    @Test
    void shouldStoreNothingIfAClassIsMissing() {
        final Cache<String, Object> cache = open("");
        assertThatThrownBy(() -> cache.put("k", new Note("unlinked")))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("cannot be written by the codec note")
                .hasMessageContaining("a/b/C");
        assertThat(cache.containsKey("k")).isFalse();
    }

    @Test
    void shouldClearTheContentAndKeepTheCodec() {
        final String store = "&capacity=32m&dir=" + directory.resolve("store");
        for (String cleared : List.of("&template.c.content=fresh", "&template.c.generation=2")) {
            open(store).put("k", new Note("one"));
            provider.close();
            final Cache<String, Object> after = open(store + cleared);
            assertThat(after.get("k")).isNull();
            after.put("k", new Note("two"));
            assertThat(after.get("k")).isEqualTo(new Note("two"));
            provider.close();
        }
        final Cache<String, Object> last = provider.getCacheManager(
                        URI.create("rowan:embedded?dir=" + directory.resolve("store") + "&capacity=32m"),
                        classes,
                        new Properties())
                .createCache("c", new MutableConfiguration<>());
        READ.set(0);
        assertThat(last.get("k")).isEqualTo(new Note("two"));
        assertThat(READ).hasValue(1);
    }

    @Test
    void shouldSayWhichCodecCannotBeMade() throws IOException {
        try (URLClassLoader broken = with(BrokenCodec.class)) {
            final CacheManager manager = provider.getCacheManager(
                    URI.create("rowan:embedded?template.c.codec=broken"), broken, new Properties());
            assertThatThrownBy(() -> manager.createCache("c", new MutableConfiguration<>()))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("codecs of values cannot be loaded")
                    .hasMessageContaining("BrokenCodec");
            assertThat(manager.unwrap(RowanClient.class).catalogue().find("c")).isNull();
        }
        Files.writeString(
                directory.resolve("classes of BrokenCodec/META-INF/services/" + ValueCodec.class.getName()), "no.Such");
        try (URLClassLoader broken = new URLClassLoader(
                new URL[] {directory.resolve("classes of BrokenCodec").toUri().toURL()},
                getClass().getClassLoader())) {
            final CacheManager manager = provider.getCacheManager(
                    URI.create("rowan:embedded?template.c.codec=broken"), broken, new Properties());
            assertThatThrownBy(() -> manager.createCache("c", new MutableConfiguration<>()))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("no.Such");
            // A cache without such a codec asks for none.
            manager.createCache("plain", new MutableConfiguration<String, Object>())
                    .put("k", new ArrayList<>());
        }
    }
}
