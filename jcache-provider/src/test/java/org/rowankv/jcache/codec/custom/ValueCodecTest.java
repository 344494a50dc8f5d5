package org.rowankv.jcache.codec.custom;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.Properties;
import java.util.function.Predicate;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.codec.ClassNotAllowedException;
import org.rowankv.jcache.codec.MalformedBytesException;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** Codecs that an application brings, chosen by template and kept by the cache. */
class ValueCodecTest {
    private static final String ALLOWED = "&allowed-classes=" + ValueCodecTest.class.getName() + "$Word;"
            + ValueCodecTest.class.getName() + "$Phrase;" + ValueCodecTest.class.getName() + "$Plain";

    /** A value. */
    public record Word(String text) {}

    /** Of any parts. */
    public record Phrase(Object part) {}

    /** Which no setting allows. */
    public record Secret(String text) {}

    /** Whose class alone makes the codec fail. */
    private record Unliked() implements Serializable {}

    /** Which the codec leaves to others. */
    private record Plain(String text) implements Serializable {}

    /** Writes the classes' names and the text. Texts make it fail. */
    public static class WordCodec implements ValueCodec {
        @Override
        public String name() {
            return "word";
        }

        @Override
        public boolean takes(Class<?> type) {
            if (type == Unliked.class) {
                throw new IllegalStateException("no mood");
            }
            return type == Word.class || type == Phrase.class || type == Secret.class;
        }

        @Override
        public void encode(Object value, OutputStream out, ClassLoader loader, Predicate<Class<?>> allowed)
                throws IOException {
            final Object part = value instanceof Phrase phrase ? phrase.part() : value;
            if (!allowed.test(part.getClass())) {
                throw new IOException("refused");
            }
            final String text = part instanceof Word word ? word.text() : part.toString();
            out.write((value.getClass().getName() + '/' + text).getBytes(StandardCharsets.UTF_8));
            switch (text) {
                case "io" -> throw new IOException("the disk is tired");
                case "runtime" -> throw new IllegalStateException("no mood");
                case "stack" -> throw new StackOverflowError("too deep");
                default -> {}
            }
        }

        @Override
        public Object decode(InputStream in, ClassLoader loader, Predicate<Class<?>> allowed)
                throws IOException, ClassNotFoundException {
            final String[] parts = new String(in.readAllBytes(), StandardCharsets.UTF_8).split("/", -1);
            switch (parts[1]) {
                case "unreadable" -> throw new IOException("no glasses");
                case "missing" -> throw new ClassNotFoundException("a.b.C");
                case "null" -> {
                    return null;
                }
                case "secret" -> {
                    return new Secret("made without asking");
                }
                case "other" -> {
                    if (!allowed.test(Secret.class)) {
                        throw new IllegalArgumentException("refused");
                    }
                }
                default -> {}
            }
            return new Word("read " + parts[1]);
        }
    }

    /** Another of the same name. */
    public static final class SecondCodec extends WordCodec {}

    /** Another name. */
    public static final class OtherCodec extends WordCodec {
        @Override
        public String name() {
            return "other";
        }
    }

    @TempDir
    Path directory;

    private final RowanCachingProvider provider = new RowanCachingProvider();
    private final List<URLClassLoader> loaders = new ArrayList<>();

    private ClassLoader with(Class<?>... codecs) throws IOException {
        final Path classes = directory.resolve("classes" + loaders.size());
        final Path services = Files.createDirectories(classes.resolve("META-INF/services"));
        Files.write(
                services.resolve(ValueCodec.class.getName()),
                List.of(codecs).stream().map(Class::getName).toList());
        loaders.add(new OwnServices(classes.toUri().toURL()));
        return loaders.get(loaders.size() - 1);
    }

    /** Has no codecs that happen to be on the class path. */
    private static final class OwnServices extends URLClassLoader {
        OwnServices(URL classes) {
            super(new URL[] {classes}, ValueCodecTest.class.getClassLoader());
        }

        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            return name.endsWith(ValueCodec.class.getName()) ? findResources(name) : super.getResources(name);
        }
    }

    @AfterEach
    void close() throws IOException {
        provider.close();
        for (URLClassLoader loader : loaders) {
            loader.close();
        }
    }

    private CacheManager manager(ClassLoader classes, String parameters) {
        return provider.getCacheManager(
                URI.create("rowan:embedded?capacity=32m" + ALLOWED + parameters), classes, new Properties());
    }

    private static Cache<String, Object> create(CacheManager manager) {
        return manager.createCache("c", new MutableConfiguration<>());
    }

    private String dir() {
        return "&dir=" + directory.resolve("store");
    }

    @Test
    void shouldWriteWithTheCodecThatTheTemplateNames() throws IOException {
        final Cache<String, Object> cache = create(manager(with(WordCodec.class), "&template.c.codec=word"));
        cache.put("k", new Word("w"));
        assertThat(cache.get("k")).isEqualTo(new Word("read w"));
        cache.put("k", "strings have bytes of their own");
        assertThat(cache.get("k")).isEqualTo("strings have bytes of their own");
        cache.put("k", new ArrayList<>(List.of(1)));
        assertThat(cache.get("k")).isEqualTo(List.of(1));
        final Cache<Word, String> words =
                manager(loaders.get(0), "&template.c.codec=word").createCache("words", new MutableConfiguration<>());
        words.put(new Word("keys are not values"), "v");
        assertThat(words.get(new Word("keys are not values"))).isEqualTo("v");
    }

    @Test
    void shouldStoreNothingIfTheCodecFails() throws IOException {
        final Cache<String, Object> cache = create(manager(with(WordCodec.class), "&template.c.codec=word"));
        cache.put("k", new Word("before"));
        assertThatThrownBy(() -> cache.put("k", new Unliked()))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("codec word fails");
        for (String text : List.of("io", "runtime", "stack")) {
            assertThatThrownBy(() -> cache.put("k", new Word(text)))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("cannot be written by the codec word")
                    .hasMessageContaining("is not stored");
            assertThatThrownBy(() -> cache.putAll(java.util.Map.of("k", new Word(text), "l", new Word(text))))
                    .isInstanceOf(CacheException.class);
            assertThat(cache.get("k")).isEqualTo(new Word("read before"));
            assertThat(cache.containsKey("l")).isFalse();
        }
    }

    @Test
    void shouldKeepTheEntryIfItCannotBeRead() throws IOException {
        final Cache<String, Object> cache = create(manager(with(WordCodec.class), "&template.c.codec=word"));
        for (String text : List.of("unreadable", "null")) {
            cache.put("k", new Word(text));
            assertThatThrownBy(() -> cache.get("k"))
                    .isInstanceOf(MalformedBytesException.class)
                    .hasMessageContaining("codec word");
            assertThat(cache.containsKey("k")).isTrue();
        }
        cache.put("k", new Word("missing"));
        assertThatThrownBy(() -> cache.get("k"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("a.b.C")
                .hasMessageContaining("the entry stays");
    }

    @Test
    void shouldObeyTheClassRules() throws IOException {
        final Cache<String, Object> cache = create(manager(with(WordCodec.class), "&template.c.codec=word"));
        for (Object refused : List.of(new Secret("s"), new Phrase(new Secret("s")))) {
            assertThatThrownBy(() -> cache.put("k", refused))
                    .isInstanceOf(ClassNotAllowedException.class)
                    .hasMessageContaining("Secret")
                    .hasMessageContaining("allowed-classes");
        }
        assertThat(cache.containsKey("k")).isFalse();
        for (String text : List.of("secret", "other")) {
            cache.put("k", new Word(text));
            assertThatThrownBy(() -> cache.get("k"))
                    .isInstanceOf(ClassNotAllowedException.class)
                    .hasMessageContaining("Secret");
        }
    }

    @Test
    void shouldNameTheCodecsThatThereAre() throws IOException {
        final CacheManager manager = manager(with(WordCodec.class), "&template.c.codec=nothing");
        assertThatThrownBy(() -> create(manager))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("codec=nothing")
                .hasMessageContaining("java, record, word")
                .hasMessageContaining("add the jar");
        assertThat(manager.unwrap(RowanClient.class).catalogue().find("c")).isNull();
        final ClassLoader two = with(WordCodec.class, SecondCodec.class);
        assertThatThrownBy(() -> create(manager(two, "&template.c.codec=word")))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("two codecs are called word");
        assertThatThrownBy(() -> manager(two, "&template.c.codec=No+Name"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("c.codec");
    }

    @Test
    void shouldOpenACacheWithTheCodecThatItHas() throws IOException {
        final ClassLoader both = with(WordCodec.class, OtherCodec.class);
        create(manager(both, dir() + "&template.c.codec=word")).put("k", new Word("w"));
        provider.close();
        assertThat(create(manager(both, dir())).get("k")).isEqualTo(new Word("read w"));
        provider.close();
        final ClassLoader none = with();
        assertThatThrownBy(() -> create(manager(none, dir())))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("codec=word")
                .hasMessageContaining("only the codecs java, record");
        provider.close();
        for (String other : List.of("other", "java", "record")) {
            assertThatThrownBy(() -> create(manager(both, dir() + "&template.c.codec=" + other)))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("codec=word in the store")
                    .hasMessageContaining("codec=" + other);
            provider.close();
        }
        assertThat(create(manager(both, dir())).get("k")).isEqualTo(new Word("read w"));
    }

    @Test
    void shouldNotGiveACodecToACacheThatHasNone() throws IOException {
        final ClassLoader both = with(WordCodec.class);
        create(manager(both, dir())).put("k", new Plain("p"));
        provider.close();
        assertThatThrownBy(() -> create(manager(both, dir() + "&template.c.codec=word")))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("codec=record or java in the store")
                .hasMessageContaining("codec=word");
    }
}
