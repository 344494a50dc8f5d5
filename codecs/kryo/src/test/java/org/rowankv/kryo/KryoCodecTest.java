package org.rowankv.kryo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoSerializable;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.serializers.CompatibleFieldSerializer;
import java.io.Serializable;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.spi.CachingProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.RowanClient;

class KryoCodecTest {
    private static final String HERE = KryoCodecTest.class.getName();
    private static final byte STRING = 2;
    private static final byte CUSTOM = 52;

    enum Kind {
        NOVEL,
        POEM {
            @Override
            public String toString() {
                return "verse";
            }
        }
    }

    record Author(String name, Kind kind) {}

    /** Neither Serializable nor with a constructor without parameters. */
    @SuppressWarnings("UnusedVariable") // compared field by field
    static final class Book {
        private final String title;
        private final List<Author> authors;
        private final Map<String, BigDecimal> prices = new HashMap<>();
        private final LocalDate published;
        private final Instant changed;
        private final int[] pages;
        private Book sequel;

        Book(String title, List<Author> authors, int... pages) {
            this.title = title;
            this.authors = authors;
            this.pages = pages;
            this.published = LocalDate.of(1922, 2, 2);
            this.changed = Instant.ofEpochSecond(7, 9);
            prices.put("eur", new BigDecimal("12.30"));
        }
    }

    record Secret(String text) {}

    record Envelope(Object content) {}

    private static final AtomicInteger DESERIALIZED = new AtomicInteger();

    /** What another client would like to have made here. */
    static final class Evil implements KryoSerializable {
        static {
            System.setProperty(HERE + ".initialized", "yes");
        }

        Evil() {
            DESERIALIZED.incrementAndGet();
        }

        @Override
        public void write(Kryo kryo, Output output) {}

        @Override
        public void read(Kryo kryo, Input input) {
            DESERIALIZED.incrementAndGet();
        }
    }

    /** Registers a class by a number. */
    public static final class OwnCodec extends KryoCodec {
        /** For the service loader. */
        public OwnCodec() {
            super("own-kryo");
        }

        @Override
        protected void configure(Kryo kryo) {
            kryo.register(Author.class, 100);
            kryo.register(Kind.class, 101);
        }
    }

    private final CachingProvider provider = Caching.getCachingProvider();

    private CacheManager manager(String codec, Class<?>... allowed) {
        return provider.getCacheManager(
                URI.create("rowan:embedded?capacity=16m&template.c.codec=" + codec + "&allowed-classes="
                        + String.join(
                                ";", Arrays.stream(allowed).map(Class::getName).toList())),
                null);
    }

    private static Cache<String, Object> open(CacheManager manager) {
        return manager.createCache("c", new MutableConfiguration<>());
    }

    @AfterEach
    void close() {
        provider.close();
    }

    private static Book book(int number) {
        return new Book(
                "Ulysses " + number, List.of(new Author("Joyce", Kind.NOVEL), new Author("é", Kind.POEM)), 1, number);
    }

    private static byte[] stored(CacheManager manager) {
        final RowanClient client = manager.unwrap(RowanClient.class);
        return client.get(client.catalogue().find("c").id(), new byte[] {STRING, 'k'});
    }

    private static void put(CacheManager manager, byte[] bytes) {
        final RowanClient client = manager.unwrap(RowanClient.class);
        client.put(client.catalogue().find("c").id(), new byte[] {STRING, 'k'}, bytes);
    }

    /** What a client writes that knows no rules. */
    private static byte[] foreign(Object value) {
        final Kryo kryo = new Kryo();
        kryo.setRegistrationRequired(false);
        kryo.setReferences(true);
        kryo.setDefaultSerializer(CompatibleFieldSerializer.class);
        final Output out = new Output(64, -1);
        out.writeByte(CUSTOM);
        kryo.writeClassAndObject(out, value);
        return out.toBytes();
    }

    @Test
    void shouldKeepObjectsAndTheirReferences() {
        final Cache<String, Object> cache =
                open(manager("kryo", Book.class, Author.class, IllegalStateException.class));
        for (int i = 0; i < 3; i++) {
            final Book book = book(i);
            book.sequel = book;
            cache.put("k", book);
            final Book read = (Book) cache.get("k");
            assertThat(read).isNotSameAs(book).usingRecursiveComparison().isEqualTo(book);
            assertThat(read.sequel).isSameAs(read);
        }
        cache.put("k", new ArrayList<>(List.of(new Author("a", Kind.POEM))));
        assertThat(cache.get("k")).isEqualTo(List.of(new Author("a", Kind.POEM)));
        cache.put("k", new Author[] {new Author("a", Kind.POEM)});
        assertThat((Author[]) cache.get("k")).containsExactly(new Author("a", Kind.POEM));
        cache.put("k", new IllegalStateException("left to others"));
        assertThat(cache.get("k"))
                .isInstanceOf(IllegalStateException.class)
                .hasToString("java.lang.IllegalStateException: left to others");
        cache.put("k", Collections.unmodifiableList(new ArrayList<>(List.of("so is this"))));
        assertThat(cache.get("k")).isEqualTo(List.of("so is this"));
    }

    @Test
    void shouldMakeNoObjectOfAClassThatIsNotAllowed() {
        final CacheManager manager = manager("kryo", Envelope.class, Class.class);
        final Cache<String, Object> cache = open(manager);
        final Calm calm = new Calm("x");
        for (Object value : List.of(
                calm,
                new Envelope(calm),
                new Envelope(new ArrayList<>(List.of(calm))),
                new Envelope(new HashMap<>(Map.of(calm, 1))),
                new Envelope(new TreeMap<>(Map.of("k", calm))),
                new Envelope(new Calm[] {calm}),
                new Envelope(new Calm[0]),
                new Envelope(Calm.class))) {
            put(manager, rename(foreign(value), Calm.class.getName(), HERE + "$Evil"));
            assertThatThrownBy(() -> cache.get("k"))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("may not be serialized")
                    .hasMessageContaining("Evil")
                    .hasMessageContaining("allowed-classes");
        }
        assertThat(DESERIALIZED).hasValue(0);
        assertThat(System.getProperty(HERE + ".initialized")).isNull();
    }

    @Test
    void shouldWriteNoObjectOfAClassThatIsNotAllowed() {
        final Cache<String, Object> cache = open(manager("kryo", Envelope.class));
        for (Object value : List.of(new Secret("s"), new Envelope(new Secret("s")))) {
            assertThatThrownBy(() -> cache.put("k", value))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("Secret")
                    .hasMessageContaining("allowed-classes");
            assertThat(cache.containsKey("k")).isFalse();
        }
        cache.put("k", new Envelope(List.of(1)));
        assertThat(cache.get("k")).isEqualTo(new Envelope(List.of(1)));
    }

    /** Longer than a segment. */
    @Test
    void shouldKeepBigObjects() {
        final CacheManager manager =
                provider.getCacheManager(URI.create("rowan:embedded?capacity=256m&template.c.codec=kryo"), null);
        final Cache<String, Object> cache = open(manager);
        final Envelope big = new Envelope("x".repeat(21_000_000));
        cache.put("k", big);
        assertThat(big.equals(cache.get("k"))).isTrue();
    }

    /** Of a name as long as that of the class that its bytes name in the end. */
    static final class Calm {
        final String text;

        Calm(String text) {
            this.text = text;
        }
    }

    /** Kryo marks the last letter of a name. */
    private static byte[] rename(byte[] bytes, String from, String to) {
        final byte[] result = bytes.clone();
        final int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(from.substring(0, from.length() - 1));
        assertThat(at).isPositive();
        for (int i = 0; i < from.length(); i++) {
            result[at + i] = (byte) (to.charAt(i) | bytes[at + i] & 0x80);
        }
        return result;
    }

    /** Of which there is one, as Spring's for null. */
    static class Nothing implements Serializable {
        private static final long serialVersionUID = 1L;
        private static final Nothing INSTANCE = new Nothing();

        protected Object readResolve() {
            return INSTANCE;
        }
    }

    /** Replaced by what its parent says. */
    static final class Less extends Nothing {
        private static final long serialVersionUID = 1L;
    }

    @Test
    void shouldLeaveObjectsThatAreReplacedWhenTheyAreRead() {
        final Cache<String, Object> cache = open(manager("kryo", Nothing.class, Less.class));
        for (Object value : List.of(Nothing.INSTANCE, new Less())) {
            cache.put("k", value);
            assertThat(cache.get("k")).isSameAs(Nothing.INSTANCE);
        }
    }

    @Test
    void shouldTakeRegistrationsOfAnApplication() {
        final CacheManager plain = manager("kryo", Author.class);
        open(plain).put("k", new Author("Joyce", Kind.NOVEL));
        final int named = stored(plain).length;
        provider.close();
        final CacheManager own = manager("own-kryo", Author.class);
        open(own).put("k", new Author("Joyce", Kind.NOVEL));
        assertThat(own.getCache("c").get("k")).isEqualTo(new Author("Joyce", Kind.NOVEL));
        assertThat(stored(own).length).isLessThan(named - 20);
    }

    @Test
    void shouldStoreNothingThatCannotBeReadBack() {
        final Cache<String, Object> cache = open(manager("kryo", Envelope.class));
        assertThatThrownBy(
                        () -> cache.put("k", new Envelope(Collections.unmodifiableList(new ArrayList<>(List.of(1))))))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("codec kryo");
        assertThat(cache.containsKey("k")).isFalse();
        cache.put("k", new Envelope(1));
        assertThat(cache.get("k")).isEqualTo(new Envelope(1));
    }

    @Test
    void shouldRefuseDamagedBytes() {
        final CacheManager manager = manager("kryo", Author.class);
        final Cache<String, Object> cache = open(manager);
        cache.put("k", new Author("Joyce", Kind.NOVEL));
        final byte[] whole = stored(manager);
        for (int length = 1; length < whole.length; length++) {
            put(manager, Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> cache.get("k")).isInstanceOf(CacheException.class);
        }
        put(manager, Arrays.copyOf(whole, whole.length + 1));
        assertThatThrownBy(() -> cache.get("k"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("bytes behind");
        put(manager, whole);
        assertThat(cache.get("k")).isEqualTo(new Author("Joyce", Kind.NOVEL));
    }

    @Test
    void shouldServeManyThreads() throws Exception {
        final Cache<String, Object> cache = open(manager("kryo", Book.class, Author.class));
        final ExecutorService threads = Executors.newFixedThreadPool(8);
        final List<Future<?>> all = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            final String key = "k" + t;
            final int number = t;
            all.add(threads.submit(() -> {
                for (int i = 0; i < 200; i++) {
                    cache.put(key, book(1_000 * number + i));
                    assertThat(((Book) Objects.requireNonNull(cache.get(key))).pages[1])
                            .isEqualTo(1_000 * number + i);
                }
            }));
        }
        for (Future<?> each : all) {
            each.get();
        }
        threads.shutdown();
    }
}
