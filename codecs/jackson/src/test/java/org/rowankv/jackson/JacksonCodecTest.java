package org.rowankv.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.lang.reflect.Constructor;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
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

class JacksonCodecTest {
    private static final String HERE = JacksonCodecTest.class.getName();
    private static final byte STRING = 2;
    private static final byte CUSTOM = 52;

    enum Kind {
        NOVEL,
        POEM
    }

    record Author(String name, Optional<String> note) {}

    record Book(
            String title,
            Kind kind,
            List<Author> authors,
            Map<String, Integer> ratings,
            Set<Long> numbers,
            BigDecimal price,
            LocalDate published,
            Instant changed,
            ZonedDateTime shown,
            Duration lent,
            byte[] cover,
            double weight) {}

    /** As a framework makes them. */
    public static class Customer {
        private String name;
        private List<Author> favourites = new ArrayList<>();

        public String getName() {
            return name;
        }

        public void setName(String name) {
            this.name = name;
        }

        public List<Author> getFavourites() {
            return favourites;
        }

        public void setFavourites(List<Author> favourites) {
            this.favourites = favourites;
        }
    }

    record Secret(String text) {}

    record Envelope(String to, Object content) {}

    record Holder(@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS) Object part) {}

    /** Only written. */
    static final class OneWay {
        private final String text;

        OneWay(int length) {
            this.text = "x".repeat(length);
        }

        public String getText() {
            return text;
        }
    }

    record Typed(Class<?> type) {}

    record Declared(Gadget part) {}

    record DeclaredList(GadgetList parts) {}

    private static final AtomicInteger DESERIALIZED = new AtomicInteger();

    /** What another client would like to have made here. */
    public static final class Gadget {
        static {
            System.setProperty(HERE + ".initialized", "yes");
        }

        /** Counts. */
        public Gadget() {
            DESERIALIZED.incrementAndGet();
        }

        /** Counts. */
        public void setCommand(String command) {
            DESERIALIZED.incrementAndGet();
        }
    }

    /** Made of an array. */
    public static final class GadgetList extends ArrayList<Object> {
        private static final long serialVersionUID = 1L;

        /** Counts. */
        public GadgetList() {
            DESERIALIZED.incrementAndGet();
        }
    }

    /** With a mapper that would instantiate what the JSON names. */
    public static final class OwnCodec extends JacksonCodec {
        /** For the service loader. */
        public OwnCodec() {
            super("own-json", careless());
        }

        private static ObjectMapper careless() {
            final JsonMapper mapper = new JsonMapper();
            mapper.activateDefaultTyping(mapper.getPolymorphicTypeValidator(), ObjectMapper.DefaultTyping.NON_FINAL);
            return mapper;
        }
    }

    private final CachingProvider provider = Caching.getCachingProvider();

    private static String allowing(Class<?>... types) {
        return String.join(";", Arrays.stream(types).map(Class::getName).toList());
    }

    private CacheManager manager(String codec, Class<?>... allowed) {
        return provider.getCacheManager(
                URI.create("rowan:embedded?capacity=16m&template.c.codec=" + codec + "&allowed-classes="
                        + allowing(allowed)),
                null);
    }

    private static Cache<String, Object> open(CacheManager manager) {
        return manager.createCache("c", new MutableConfiguration<>());
    }

    @AfterEach
    void close() {
        provider.close();
    }

    private static Book book() {
        return new Book(
                "Ulysses",
                Kind.NOVEL,
                List.of(new Author("Joyce", Optional.of("é\ud83d\ude00")), new Author("?", Optional.empty())),
                new HashMap<>(Map.of("a", 1)),
                Set.of(1L << 40),
                new BigDecimal("12.30"),
                LocalDate.of(1922, 2, 2),
                Instant.ofEpochSecond(7, 123_456_789),
                ZonedDateTime.parse("2024-10-27T02:30:00+01:00[Europe/Berlin]"),
                Duration.ofMillis(1_500),
                new byte[] {1, -1},
                0.1 + 0.2);
    }

    private static void put(CacheManager manager, String json) {
        final RowanClient client = manager.unwrap(RowanClient.class);
        client.put(client.catalogue().find("c").id(), bytes(STRING, "k"), bytes(CUSTOM, json));
    }

    private static byte[] bytes(byte tag, String text) {
        final byte[] content = text.getBytes(StandardCharsets.UTF_8);
        final byte[] bytes = new byte[content.length + 1];
        bytes[0] = tag;
        System.arraycopy(content, 0, bytes, 1, content.length);
        return bytes;
    }

    private static String json(Class<?> type, String value) {
        return "{\"type\":\"" + type.getName() + "\",\"value\":" + value + "}";
    }

    @Test
    void shouldKeepRecordsAndBeans() {
        final Cache<String, Object> cache = open(manager("jackson", Book.class, Author.class, Customer.class));
        for (int i = 0; i < 3; i++) {
            cache.put("k", book());
            assertThat(cache.get("k")).usingRecursiveComparison().isEqualTo(book());
        }
        final Customer customer = new Customer();
        customer.setName("n");
        customer.getFavourites().add(new Author("a", Optional.empty()));
        cache.put("k", customer);
        assertThat(cache.get("k"))
                .isInstanceOf(Customer.class)
                .usingRecursiveComparison()
                .isEqualTo(customer);
        cache.put("k", new ArrayList<>(List.of("left to others")));
        assertThat(cache.get("k")).isEqualTo(List.of("left to others"));
    }

    @Test
    void shouldWriteJson() {
        final CacheManager manager = manager("jackson", Author.class);
        open(manager).put("k", new Author("Joyce", Optional.empty()));
        final RowanClient client = manager.unwrap(RowanClient.class);
        assertThat(client.get(client.catalogue().find("c").id(), bytes(STRING, "k")))
                .isEqualTo(bytes(CUSTOM, json(Author.class, "{\"name\":\"Joyce\",\"note\":null}")));
    }

    @Test
    void shouldReadClassesThatHaveGainedAndLostProperties() {
        final CacheManager manager = manager("jackson", Author.class);
        final Cache<String, Object> cache = open(manager);
        put(manager, json(Author.class, "{\"born\":[1882,{}],\"name\":\"Joyce\"}"));
        assertThat(cache.get("k")).isEqualTo(new Author("Joyce", Optional.empty()));
    }

    @Test
    void shouldMakeNoObjectOfAClassThatIsNotAllowed() {
        final CacheManager manager =
                manager("jackson", Holder.class, Typed.class, Class.class, Declared.class, DeclaredList.class);
        final Cache<String, Object> cache = open(manager);
        final String gadget = Gadget.class.getName();
        for (String foreign : List.of(
                json(Gadget.class, "{\"command\":\"c\"}"),
                json(Holder.class, "{\"part\":{\"@class\":\"" + gadget + "\",\"command\":\"c\"}}"),
                json(Holder.class, "{\"part\":[\"java.util.ArrayList<" + gadget + ">\",[{}]]}"),
                json(Holder.class, "{\"part\":[\"" + GadgetList.class.getName() + "\",[]]}"),
                json(Typed.class, "{\"type\":\"" + gadget + "\"}"),
                json(Declared.class, "{\"part\":{\"command\":\"c\"}}"),
                json(DeclaredList.class, "{\"parts\":[]}"))) {
            put(manager, foreign);
            assertThatThrownBy(() -> cache.get("k"))
                    .as(foreign)
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("may not be serialized")
                    .hasMessageContaining("Gadget")
                    .hasMessageContaining("allowed-classes");
        }
        assertThat(DESERIALIZED).hasValue(0);
        assertThat(System.getProperty(HERE + ".initialized")).isNull();
    }

    @Test
    void shouldWriteNoObjectOfAClassThatIsNotAllowed() {
        final Cache<String, Object> cache = open(manager("jackson", Envelope.class, Holder.class, Author.class));
        for (Object value :
                List.of(new Secret("s"), new Envelope("to", new Secret("s")), new Holder(new Secret("s")))) {
            assertThatThrownBy(() -> cache.put("k", value))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("Secret")
                    .hasMessageContaining("allowed-classes");
            assertThat(cache.containsKey("k")).isFalse();
        }
        for (Object part : List.of(new Author("a", Optional.empty()), new ArrayList<>(List.of("t")), "text")) {
            cache.put("k", new Holder(part));
            assertThat(cache.get("k")).isEqualTo(new Holder(part));
        }
    }

    @Test
    void shouldTakeClassesFromTheLoaderOfTheManager() throws Exception {
        final ClassLoader application = new SecondLoader();
        final Class<?> author = application.loadClass(Author.class.getName());
        final Class<?> holder = application.loadClass(Holder.class.getName());
        final CacheManager manager = provider.getCacheManager(
                URI.create("rowan:embedded?capacity=16m&template.c.codec=jackson"), application, new Properties());
        final Cache<String, Object> cache = open(manager);
        final Constructor<?> maker = holder.getDeclaredConstructors()[0];
        final Constructor<?> part = author.getDeclaredConstructors()[0];
        maker.setAccessible(true);
        part.setAccessible(true);
        cache.put("k", maker.newInstance(part.newInstance("a", Optional.empty())));
        final Object read = cache.get("k");
        assertThat(read).isInstanceOf(holder).isNotInstanceOf(Holder.class);
        assertThat(read).extracting("part").isInstanceOf(author);
        assertThatThrownBy(() -> cache.put("k", new Author("a", Optional.empty())))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("read back");
    }

    /** Has classes of its own, as an application in a server has. */
    private static final class SecondLoader extends ClassLoader {
        SecondLoader() {
            super(JacksonCodecTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(HERE)) {
                return super.loadClass(name, resolve);
            }
            final Class<?> found = findLoadedClass(name);
            if (found != null) {
                return found;
            }
            try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
                final byte[] bytes = file.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    /** Longer than Jackson reads unless it is asked to, and than a segment. */
    @Test
    void shouldKeepLongTextsAndNumbers() {
        final CacheManager manager =
                provider.getCacheManager(URI.create("rowan:embedded?capacity=256m&template.c.codec=jackson"), null);
        final Cache<String, Object> cache = open(manager);
        cache.put("k", new Envelope("first of its class", 1));
        final Envelope longer = new Envelope("x".repeat(21_000_000), BigInteger.TEN.pow(2_000));
        cache.put("k", longer);
        assertThat(longer.equals(cache.get("k"))).isTrue();
        final Envelope names = new Envelope("t", Map.of("n".repeat(60_000), "v"));
        cache.put("k", names);
        assertThat(names.equals(cache.get("k"))).isTrue();
    }

    /** Of which there is one, as Spring's for null. */
    static final class Nothing implements Serializable {
        private static final long serialVersionUID = 1L;
        private static final Nothing INSTANCE = new Nothing();

        private Object readResolve() {
            return INSTANCE;
        }
    }

    @Test
    void shouldLeaveObjectsThatAreReplacedWhenTheyAreRead() {
        final Cache<String, Object> cache = open(manager("jackson", Nothing.class));
        cache.put("k", Nothing.INSTANCE);
        assertThat(cache.get("k")).isSameAs(Nothing.INSTANCE);
    }

    @Test
    void shouldLeaveExceptionsToOthers() {
        final Cache<String, Object> cache = open(manager("jackson", IllegalStateException.class));
        cache.put("k", new IllegalStateException("s"));
        assertThat(cache.get("k")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldHaveNoDefaultTyping() {
        final CacheManager manager = manager("own-json", Envelope.class);
        final Cache<String, Object> cache = open(manager);
        final String typed = "[\"" + Secret.class.getName() + "\",{\"text\":\"s\"}]";
        put(manager, json(Envelope.class, "{\"to\":\"t\",\"content\":" + typed + "}"));
        assertThat(cache.get("k")).isEqualTo(new Envelope("t", List.of(Secret.class.getName(), Map.of("text", "s"))));
    }

    @Test
    void shouldStoreNothingThatCannotBeReadBack() {
        final Cache<String, Object> cache = open(manager("jackson", OneWay.class));
        assertThatThrownBy(() -> cache.put("k", new OneWay(3)))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("codec jackson")
                .hasMessageContaining("could not be read back");
        assertThat(cache.containsKey("k")).isFalse();
    }

    @Test
    void shouldRefuseBytesThatAreNoJson() {
        final CacheManager manager = manager("jackson", Author.class);
        final Cache<String, Object> cache = open(manager);
        for (String damaged : List.of(
                "",
                "{",
                "[]",
                "{\"type\":7}",
                "{\"type\":\"no.such.Class\",\"value\":{}}",
                json(Author.class, "null"),
                json(Author.class, "{\"name\":"),
                json(Author.class, "{\"name\":\"n\"}").replace("}}", "},\"more\":1}"))) {
            put(manager, damaged);
            assertThatThrownBy(() -> cache.get("k")).as(damaged).isInstanceOf(CacheException.class);
            assertThat(cache.containsKey("k")).isTrue();
        }
    }
}
