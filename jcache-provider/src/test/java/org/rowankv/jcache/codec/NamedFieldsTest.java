package org.rowankv.jcache.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamField;
import java.io.Serializable;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.runtime.TestScale;

/** Values by the names of their fields: nothing is lost, fields come and go, all else stays in Java serialization. */
final class NamedFieldsTest {
    private static Codec codec(boolean byName) {
        return new Codec(
                new LoaderReference(NamedFieldsTest.class.getClassLoader()),
                new ClassRules(List.of(), "org.rowankv.**"),
                KeyFormat.STRUCTURAL,
                byName);
    }

    private static final Codec CODEC = codec(true);

    private static byte[] encode(Object value) {
        final ByteSink sink = new ByteSink(8);
        CODEC.encode(value, sink);
        return sink.toBytes();
    }

    private static Object decode(byte[] bytes) {
        return CODEC.decode(bytes, 0, bytes.length);
    }

    private record Book(String isbn, String title, int pages, BigDecimal price, LocalDate published, List<String> tags)
            implements Serializable {}

    private record Shelf(Map<String, Book> books, Book first, long[] counts, Genre genre) {}

    private enum Genre {
        CRIME,
        POETRY
    }

    private static class Person implements Serializable {
        private static final long serialVersionUID = 1L;
        private final String name;
        private Person friend;
        private transient int visits;

        Person(String name) {
            this.name = name;
            this.visits = 3;
        }

        @Override
        public boolean equals(Object other) {
            return other != null
                    && other.getClass() == getClass()
                    && name.equals(((Person) other).name)
                    && Objects.equals(friend, ((Person) other).friend);
        }

        @Override
        public int hashCode() {
            return name.hashCode();
        }
    }

    @SuppressWarnings({"UnusedVariable", "serial"}) // the codec reads it
    private static final class Author extends Person {
        private static final long serialVersionUID = 1L;
        private final Set<String> works = new HashSet<>(Set.of("a", "b"));

        Author(String name) {
            super(name);
        }
    }

    private static Book book(int n) {
        return new Book("978-" + n, "A title", 300 + n, new BigDecimal("12.50"), LocalDate.EPOCH, List.of("x", "y"));
    }

    private static Stream<Object> kept() {
        final Person person = new Person("Ada");
        person.friend = new Author("Grace");
        return Stream.of(
                book(1),
                new Book(null, null, 0, null, null, null),
                new Shelf(new TreeMap<>(Map.of("a", book(1), "b", book(2))), book(3), new long[] {1, -1}, Genre.POETRY),
                person,
                new ArrayList<>(Arrays.asList("a", null, 1L)),
                List.of(),
                List.of(1),
                List.of(1, 2, 3),
                Arrays.asList(1, null),
                new HashSet<>(Set.of(1, 2)),
                new LinkedHashSet<>(List.of(3, 1, 2)),
                new TreeSet<>(Set.of("b", "a")),
                Set.of(1),
                Set.of(1, 2, 3),
                new HashMap<>(Map.of("k", book(1))),
                new LinkedHashMap<>(Map.of("k", new ArrayList<>())),
                new TreeMap<>(Map.of(2, "b", 1, "a")),
                Map.of(),
                Map.of("a", 1),
                Map.of("a", 1, "b", 2),
                new ArrayList<>(List.of("long".repeat(5000), List.of("x".repeat(200)))));
    }

    @ParameterizedTest
    @MethodSource("kept")
    void shouldKeepValuesWithTheirClasses(Object value) {
        final byte[] bytes = encode(value);
        final Object read = decode(bytes);

        assertThat(NamedFieldsFormat.isNamed(bytes[0])).isTrue();
        if (!(value instanceof Shelf)) { // its array equals only itself
            assertThat(read).isEqualTo(value);
        }
        assertThat(read)
                .usingRecursiveComparison()
                .ignoringFieldsMatchingRegexes(".*visits")
                .isEqualTo(value);
        assertThat(read).hasSameClassAs(value);
        if (value instanceof LinkedHashSet<?> set) {
            assertThat(List.copyOf((Set<?>) read)).isEqualTo(List.copyOf(set));
        }
    }

    @Test
    void shouldLeaveTransientFieldsAtZero() {
        assertThat(((Person) decode(encode(new Person("Ada")))).visits).isZero();
    }

    @Test
    void shouldNeedLessThanHalfOfJavasBytes() throws IOException {
        final ByteArrayOutputStream java = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(java)) {
            out.writeObject(book(1));
        }
        assertThat(encode(book(1)).length).isLessThan(java.size() / 2);
    }

    // --- all else ---

    private static final class Writes implements Serializable {
        private static final long serialVersionUID = 1L;
        private transient int number = 5;

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.writeInt(number);
        }

        private void readObject(ObjectInputStream in) throws IOException {
            number = in.readInt();
        }
    }

    private static final class WritesAlone implements Serializable {
        private static final long serialVersionUID = 1L;

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.defaultWriteObject();
            out.writeInt(5);
        }
    }

    private static final class Resolved implements Serializable {
        private static final long serialVersionUID = 1L;
        private static final Resolved ONE = new Resolved();

        private Object readResolve() {
            return ONE;
        }
    }

    @SuppressWarnings("UnusedVariable") // serialization reads them
    private static final class Chooses implements Serializable {
        private static final long serialVersionUID = 1L;
        private static final ObjectStreamField[] serialPersistentFields = {};
        private final int number = 7;
    }

    /** With names: the text of some has no end. */
    private static Stream<Named<Object>> others() {
        final List<Object> cycle = new ArrayList<>();
        cycle.add(cycle);
        List<Object> deep = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            deep = new ArrayList<>(List.of(deep));
        }
        final Person person = new Person("Ada");
        person.friend = person;
        final List<Object> twice = new ArrayList<>();
        List<Object> shared = twice;
        for (int i = 0; i < 30; i++) { // 2^30 parts, were each written where it occurs
            final List<Object> next = new ArrayList<>();
            shared.add(next);
            shared.add(next);
            shared = next;
        }
        return Stream.of(
                        cycle,
                        deep,
                        person,
                        twice,
                        new Writes(),
                        new WritesAlone(),
                        Resolved.ONE,
                        new Chooses(),
                        new LinkedList<>(List.of(1)),
                        new ArrayDeque<>(List.of(1)),
                        new TreeMap<String, Integer>(
                                Comparator.nullsFirst((Comparator<String> & Serializable) String::compareTo)) {},
                        new String[] {"a"},
                        new ArrayList<>(List.of(new Writes())))
                .map(value -> Named.of(value.getClass().getName(), value));
    }

    @ParameterizedTest
    @MethodSource("others")
    void shouldLeaveAllElseToJavaSerialization(Object value) {
        final ByteSink sink = new ByteSink(8);
        sink.write(99);
        final NamedFieldsFormat format = new NamedFieldsFormat(
                CODEC,
                new LoaderReference(NamedFieldsTest.class.getClassLoader()),
                new ClassRules(List.of(), "org.rowankv.**"));
        assertThat(format.write(value, sink)).isFalse();
        assertThat(sink.length()).isEqualTo(1);
    }

    @Test
    void shouldReadWhatTheOtherCodecHasWritten() {
        final ByteSink java = new ByteSink(8);
        codec(false).encode(book(1), java);
        assertThat(java.bytes()[0]).isEqualTo(Tag.SERIALIZED);
        assertThat(decode(java.toBytes())).isEqualTo(book(1));
        final byte[] named = encode(book(1));
        assertThat(codec(false).decode(named, 0, named.length)).isEqualTo(book(1));
    }

    // --- classes that change ---

    private record Edition1(String name, int pages, String gone) {}

    private record Edition2(long added, String name, String more, int pages) {}

    private record Edition3(String name, String pages) {}

    private static byte[] asOf(byte[] bytes, String edition) {
        final String text = new String(bytes, StandardCharsets.ISO_8859_1);
        return text.replace("Edition1", edition).getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void shouldReadAValueOfAClassThatHasGainedAndLostFields() {
        final byte[] old = encode(new Edition1("n", 5, "g"));
        assertThat(decode(asOf(old, "Edition2"))).isEqualTo(new Edition2(0, "n", null, 5));
        assertThat(decode(old)).isEqualTo(new Edition1("n", 5, "g"));
    }

    @Test
    void shouldTellHeadersOfOneLengthApart() {
        final byte[] whole = encode(new Edition1("n", 5, "g"));
        for (int i = 0; i < 500; i++) {
            assertThat(decode(whole)).isEqualTo(new Edition1("n", 5, "g"));
            final String name = "a%03d".formatted(i);
            final byte[] other = new String(whole, StandardCharsets.ISO_8859_1)
                    .replace("gone", name)
                    .getBytes(StandardCharsets.ISO_8859_1);
            assertThat(decode(other)).as(name).isEqualTo(new Edition1("n", 5, null));
        }
    }

    @Test
    void shouldNameAFieldWhoseTypeHasChanged() {
        assertThatThrownBy(() -> decode(asOf(encode(new Edition1("n", 5, "g")), "Edition3")))
                .isInstanceOf(MalformedBytesException.class)
                .hasMessageContaining(
                        "the field pages of class " + Edition3.class.getName() + " is a java.lang.String");
    }

    private static boolean refuses;

    private record Picky(String name, int number) {
        private Picky {
            if (refuses && number == 0) {
                throw new AssertionError("no zero");
            }
            if (refuses) {
                throw new IllegalArgumentException("no number");
            }
        }
    }

    @Test
    void shouldSayThatAConstructorRefusesWhatIsStored() {
        for (int number = 0; number < 2; number++) {
            final byte[] bytes = encode(new Picky("n", number));
            refuses = true;
            try {
                assertThatThrownBy(() -> decode(bytes))
                        .isInstanceOf(MalformedBytesException.class)
                        .hasMessage("an object of " + Picky.class + " refuses its stored fields")
                        .hasCauseInstanceOf(number == 0 ? AssertionError.class : IllegalArgumentException.class);
            } finally {
                refuses = false;
            }
        }
    }

    @Test
    void shouldRefuseBytesTooManyInAPart() {
        final byte[] bytes = encode(new Edition1("zzzz", 5, "g"));
        final int lengthOfName = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("zzzz") - 2;
        assertThat(bytes[lengthOfName]).isEqualTo((byte) 5);
        bytes[lengthOfName + 1] = Tag.TRUE; // a part of one byte, in room for five
        assertThatThrownBy(() -> decode(bytes)).isInstanceOf(MalformedBytesException.class);
    }

    // --- hostile bytes ---

    @Test
    void shouldReadNoClassThatTheRulesRefuse() {
        final byte[] bytes = encode(book(1));
        final Codec closed = new Codec(
                new LoaderReference(NamedFieldsTest.class.getClassLoader()),
                new ClassRules(List.of(), ""),
                KeyFormat.STRUCTURAL,
                true);
        for (int time = 0; time < 2; time++) {
            assertThatThrownBy(() -> closed.decode(bytes, 0, bytes.length))
                    .isInstanceOf(ClassNotAllowedException.class);
            assertThatThrownBy(() -> closed.encode(book(1), new ByteSink(8)))
                    .isInstanceOf(ClassNotAllowedException.class);
        }
    }

    @Test
    void shouldAnswerAnyBytesWithAValueOrAnErrorOfItsOwn() {
        final List<Object> values = kept().toList();
        final SplittableRandom random = new SplittableRandom(13);
        int refused = 0;
        for (int i = 0; i < TestScale.of(20_000, 400_000); i++) {
            byte[] bytes = encode(values.get(random.nextInt(values.size() - 1)));
            for (int flips = random.nextInt(1, 4); flips > 0; flips--) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            if (random.nextInt(4) == 0) {
                bytes = Arrays.copyOf(bytes, random.nextInt(1, bytes.length + 3));
            }
            try {
                assertThat(decode(bytes)).isNotNull();
            } catch (javax.cache.CacheException e) {
                refused++;
            }
        }
        assertThat(refused).isPositive();
    }
}
