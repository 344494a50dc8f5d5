package org.rowankv.jcache.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Currency;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.runtime.TestScale;

/** Equal keys have equal bytes, unequal keys unequal ones, and a key comes back equal. */
final class KeysTest {
    private static final Codec CODEC = new Codec(
            new LoaderReference(KeysTest.class.getClassLoader()),
            new ClassRules(List.of(), "org.rowankv.**"),
            KeyFormat.STRUCTURAL,
            true);

    private static byte[] encode(Object key) {
        final ByteSink sink = new ByteSink(8);
        CODEC.encodeKey(key, sink);
        return sink.toBytes();
    }

    private static Object decode(byte[] bytes) {
        return CODEC.decode(bytes, 0, bytes.length);
    }

    // --- shapes ---

    private record Pair(String a, String b) {}

    private record Nested(Pair pair, List<Integer> numbers, Map<String, Pair> pairs, double weight) {}

    private record Empty() {}

    private enum Color {
        RED,
        GREEN {
            @Override
            public String toString() {
                return "verde";
            }
        }
    }

    private static class Id implements Serializable {
        private static final long serialVersionUID = 1L;
        private final String tenant;
        private final Long number;
        private transient int hash;

        Id(String tenant, Long number) {
            this.tenant = tenant;
            this.number = number;
        }

        @Override
        public boolean equals(Object other) {
            return other != null
                    && other.getClass() == getClass()
                    && tenant.equals(((Id) other).tenant)
                    && Objects.equals(number, ((Id) other).number);
        }

        @Override
        public int hashCode() {
            if (hash == 0) {
                hash = Objects.hash(tenant, number);
            }
            return hash;
        }
    }

    private static final class SubId extends Id {
        private static final long serialVersionUID = 1L;
        private final Color color;

        SubId(String tenant, Long number, Color color) {
            super(tenant, number);
            this.color = color;
        }

        @Override
        public boolean equals(Object other) {
            return super.equals(other) && color == ((SubId) other).color;
        }

        @Override
        public int hashCode() {
            return super.hashCode();
        }
    }

    /** As the key of a method with several arguments that frameworks use. */
    private static final class Arguments implements Serializable {
        private static final long serialVersionUID = 1L;

        @SuppressWarnings("serial")
        private final Object[] params;

        private transient int hash;

        Arguments(Object... params) {
            this.params = params.clone();
            this.hash = Arrays.deepHashCode(params);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Arguments that && Arrays.deepEquals(params, that.params);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
            hash = Arrays.deepHashCode(params);
        }
    }

    /** Makes a key of its kind from a number, by one way or another. */
    private record Shape(String name, Function<Integer, Object> one, Function<Integer, Object> other) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Shape shape(String name, Function<Integer, Object> one, Function<Integer, Object> other) {
        return new Shape(name, one, other);
    }

    private static String fresh(int n) {
        return "key " + n;
    }

    private static Set<Integer> ints(int n) {
        return Set.of(1, 2, n + 3);
    }

    private static Locale locale(int n) {
        return n % 2 == 0 ? Locale.forLanguageTag("sr-Latn-RS") : Locale.GERMANY;
    }

    private static Map<String, Integer> ordered(String first, int one, String second, int two) {
        final Map<String, Integer> map = new LinkedHashMap<>();
        map.put(first, one);
        map.put(second, two);
        return map;
    }

    private static Id hashed(Id id) {
        assertThat(id.hashCode()).isNotZero();
        return id;
    }

    private static Stream<Shape> shapes() {
        final String same = "same";
        return Stream.of(
                shape(
                        "String",
                        n -> "k" + n,
                        n -> new StringBuilder("k").append(n).toString()),
                shape("String of other letters", n -> "κ" + n, n -> "κ".concat("" + n)),
                shape("Integer", n -> n, n -> Integer.parseInt("" + n)),
                shape("Long", n -> (long) n, n -> Long.parseLong("" + n)),
                shape("Short", n -> n.shortValue(), n -> Short.parseShort("" + n.shortValue())),
                shape("Byte", n -> n.byteValue(), n -> Byte.parseByte("" + n.byteValue())),
                shape("Character", n -> (char) (int) n, n -> ("" + (char) (int) n).charAt(0)),
                shape("Double", n -> n * 0.5, n -> Double.parseDouble("" + n * 0.5)),
                shape("Float", n -> n * 0.5f, n -> Float.parseFloat("" + n * 0.5f)),
                shape("UUID", n -> new UUID(1, n), n -> UUID.fromString(new UUID(1, n).toString())),
                shape("BigInteger", n -> BigInteger.valueOf(n), n -> new BigInteger("000" + n)),
                shape("BigDecimal", n -> BigDecimal.valueOf(n, 2), n -> new BigDecimal(BigInteger.valueOf(n), 2)),
                shape("Date", n -> new Date(n), n -> Date.from(Instant.ofEpochMilli(n))),
                shape("Instant", n -> Instant.ofEpochSecond(n), n -> Instant.EPOCH.plusSeconds(n)),
                shape("LocalDate", n -> LocalDate.ofEpochDay(n), n -> LocalDate.EPOCH.plusDays(n)),
                shape("Duration", n -> Duration.ofMinutes(n), n -> Duration.ofSeconds(60L * n)),
                shape(
                        "ZonedDateTime",
                        n -> Instant.ofEpochSecond(n).atZone(ZoneId.of("Europe/Berlin")),
                        n -> ZonedDateTime.ofInstant(Instant.ofEpochSecond(n), ZoneId.of("Europe/Berlin"))),
                shape("java.sql.Timestamp", n -> new java.sql.Timestamp(n), n -> new java.sql.Timestamp(n)),
                shape("java.sql.Date", n -> new java.sql.Date(n), n -> new java.sql.Date(n)),
                shape("URI", n -> URI.create("http://Host/a%2f" + n), n -> URI.create("HTTP://hOST/a%2F" + n)),
                shape("BitSet", n -> BitSet.valueOf(new long[] {n, 1}), n -> {
                    final BitSet bits = new BitSet(1000);
                    bits.or(BitSet.valueOf(new long[] {n, 1}));
                    return bits;
                }),
                shape("record, one string twice", n -> new Pair(same + n, same + n), n -> {
                    final String text = same + n;
                    return new Pair(text, text);
                }),
                shape(
                        "record of records, lists, maps",
                        n -> new Nested(
                                new Pair(null, "b"),
                                List.of(n, 2),
                                Map.of("a", new Pair("x", "y"), "b", new Pair("z", "")),
                                -0.0),
                        n -> new Nested(
                                new Pair(null, "b"),
                                Arrays.asList(n, 2),
                                new TreeMap<>(Map.of("b", new Pair("z", ""), "a", new Pair("x", "y"))),
                                -0.0)),
                shape("List.of, ArrayList", n -> List.of("a", fresh(n)), n -> new ArrayList<>(List.of("a", fresh(n)))),
                shape("asList, LinkedList", n -> Arrays.asList(fresh(n), null), n -> {
                    final List<Object> list = new LinkedList<>();
                    list.add(fresh(n));
                    list.add(null);
                    return list;
                }),
                shape(
                        "unmodifiable list",
                        n -> Collections.unmodifiableList(new ArrayList<>(List.of(n))),
                        n -> List.of(n)),
                shape("subList", n -> List.of(0, n, 1).subList(1, 3), n -> List.of(n, 1)),
                shape("singletonList", n -> Collections.singletonList(n), n -> List.of(n)),
                shape(
                        "list of lists",
                        n -> List.of(List.of(n), List.of()),
                        n -> List.of(new LinkedList<>(List.of(n)), List.of())),
                shape(
                        "Set, two orders",
                        n -> new LinkedHashSet<>(List.of("a", "b", "c" + n)),
                        n -> new LinkedHashSet<>(List.of("c" + n, "b", "a"))),
                shape(
                        "HashSet, TreeSet",
                        n -> new HashSet<>(List.of(1, 2, n + 3)),
                        n -> new TreeSet<>(List.of(n + 3, 2, 1))),
                shape("Set.of, HashSet of capacity", n -> ints(n), n -> {
                    final HashSet<Object> set = new HashSet<>(4096);
                    set.addAll(ints(n));
                    return set;
                }),
                shape("Map, two orders", n -> ordered("a", n, "b", 2), n -> ordered("b", 2, "a", n)),
                shape(
                        "HashMap, TreeMap",
                        n -> new HashMap<>(Map.of("x", n, "y", 2)),
                        n -> new TreeMap<>(Map.of("y", 2, "x", n))),
                shape("Map.Entry", n -> Map.entry("a", n), n -> new AbstractMap.SimpleEntry<>("a", n)),
                shape("Optional", n -> Optional.of(n), n -> Optional.ofNullable(n)),
                shape("class", n -> new Id(same, (long) n), n -> new Id("sa" + "me", Long.valueOf("" + n))),
                shape("class whose hash is known", n -> hashed(new Id(same, (long) n)), n -> new Id(same, (long) n)),
                shape(
                        "subclass",
                        n -> new SubId(same, null, n % 2 == 0 ? Color.RED : Color.GREEN),
                        n -> new SubId(same, null, n % 2 == 0 ? Color.RED : Color.GREEN)),
                shape(
                        "arguments",
                        n -> new Arguments(same, same, n),
                        n -> new Arguments(fresh(0).replace("key 0", same), same, n)),
                shape(
                        "arguments in an array of strings",
                        n -> new Arguments((Object[]) new String[] {"a", "b" + n}),
                        n -> new Arguments("a", "b" + n)),
                shape(
                        "enum",
                        n -> n % 2 == 0 ? Color.RED : Color.GREEN,
                        n -> Color.valueOf(n % 2 == 0 ? "RED" : "GREEN")),
                shape("JDK enum", n -> DayOfWeek.of(n % 7 + 1), n -> DayOfWeek.MONDAY.plus(n % 7)),
                shape(
                        "Locale",
                        n -> locale(n),
                        n -> Locale.forLanguageTag(locale(n).toLanguageTag())),
                shape(
                        "Currency",
                        n -> Currency.getInstance(n % 2 == 0 ? "EUR" : "USD"),
                        n -> Currency.getInstance(n % 2 == 0 ? "EUR" : "USD")));
    }

    /** All pairs are made twice, differently; a third key is another one or, by chance, the same. */
    @ParameterizedTest
    @MethodSource("shapes")
    void shouldEncodeEqualKeysEquallyAndOthersOtherwise(Shape shape) {
        final SplittableRandom random = new SplittableRandom(7);
        final int pairs = TestScale.of(500, 25_000); // of 45 shapes
        for (int i = 0; i < pairs; i++) {
            final int n = random.nextInt(1000);
            final Object one = shape.one().apply(n);
            final Object other = shape.other().apply(n);
            final Object third = shape.other().apply(random.nextInt(1000));
            final byte[] bytes = encode(one);

            assertThat(other).isEqualTo(one);
            assertThat(encode(other)).as("%s", one).isEqualTo(bytes);
            assertThat(Arrays.equals(encode(third), bytes))
                    .as("%s, %s", one, third)
                    .isEqualTo(third.equals(one));
            assertThat(decode(bytes)).isEqualTo(one).hasSameHashCodeAs(one);
        }
    }

    @Test
    void shouldTellApartWhatIsNotEqual() {
        final List<Object> keys = List.of(
                1,
                1L,
                (short) 1,
                (byte) 1,
                1.0,
                1.0f,
                '1',
                "1",
                true,
                new BigDecimal("1"),
                new BigDecimal("1.0"),
                BigInteger.ONE,
                List.of(),
                List.of(1),
                List.of(1L),
                List.of("1"),
                List.of(List.of(1)),
                List.of(1, 1),
                List.of("ab", "c"),
                List.of("a", "bc"),
                Set.of(),
                Set.of(1),
                Map.of(),
                Map.of(1, 1),
                Map.entry(1, 1),
                Optional.empty(),
                Optional.of(1),
                new Pair("a", null),
                new Pair(null, "a"),
                new Empty(),
                new Id("1", 1L),
                new SubId("1", 1L, Color.RED),
                new Arguments(),
                new Arguments(1),
                new Arguments(List.of(1)),
                Color.RED,
                Color.GREEN,
                0.0,
                -0.0,
                new java.sql.Date(0),
                new Date(0),
                String.class,
                new BitSet());
        for (Object one : keys) {
            for (Object other : keys) {
                assertThat(Arrays.equals(encode(one), encode(other)))
                        .as("%s, %s", one, other)
                        .isEqualTo(one == other);
            }
            assertThat(decode(encode(one))).isEqualTo(one);
        }
    }

    /** Compares numbers with the operator. */
    private static final class Point implements Serializable {
        private static final long serialVersionUID = 1L;
        private final double x;
        private final float y;

        Point(double x, float y) {
            this.x = x;
            this.y = y;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Point that && x == that.x && y == that.y;
        }

        @Override
        public int hashCode() {
            return Double.hashCode(x + 0.0) + Float.hashCode(y + 0.0f);
        }
    }

    private record Numbers(double x, Float y) {}

    @Test
    void shouldTakeZeroesForTheSameWhereTheClassDoes() {
        assertThat(encode(new Point(-0.0, 0.0f)))
                .isEqualTo(encode(new Point(0.0, -0.0f)))
                .isNotEqualTo(encode(new Point(1.0, 0.0f)));
        assertThat(encode(new Numbers(-0.0, 0.0f))).isNotEqualTo(encode(new Numbers(0.0, 0.0f)));
        assertThat(decode(encode(new Numbers(-0.0, -0.0f)))).isEqualTo(new Numbers(-0.0, -0.0f));
    }

    @Test
    void shouldReadClassesThatNoLoaderHas() {
        for (Class<?> type : List.of(int.class, long.class, void.class, boolean.class, int[].class, String.class)) {
            assertThat(decode(encode(List.of(type)))).isEqualTo(List.of(type));
        }
    }

    @Test
    void shouldCompareArraysByTheirContent() {
        assertThat(encode(new int[] {1, 2})).isEqualTo(encode(new int[] {1, 2})).isNotEqualTo(encode(new long[] {1, 2
        }));
        assertThat(encode(new String[] {"a"})).isEqualTo(encode(new Object[] {"a"}));
        assertThat(decode(encode(new double[][] {{1}, {2, 3}}))).isEqualTo(new Object[] {
            new double[] {1}, new double[] {2, 3}
        });
        for (Object array : new Object[] {
            new boolean[] {true, false},
            new char[] {'a'},
            new short[] {-1},
            new float[] {1.5f},
            new byte[] {7},
            new long[] {1L << 40}
        }) {
            assertThat(decode(encode(array))).isEqualTo(array);
        }
        final byte[] texts = encode(new String[] {"a", null});
        assertThat(CODEC.decodeKey(texts, 0, texts.length, String[].class)).containsExactly("a", null);
    }

    // --- refused ---

    private static final class NoEquals implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    private record IgnoresCase(String text) {
        @Override
        public boolean equals(Object other) {
            return other instanceof IgnoresCase that && text.equalsIgnoreCase(that.text);
        }

        @Override
        public int hashCode() {
            return text.toLowerCase(Locale.ROOT).hashCode();
        }
    }

    private record IgnoresScale(BigDecimal amount) {
        @Override
        public boolean equals(Object other) {
            return other instanceof IgnoresScale that && amount.compareTo(that.amount) == 0;
        }

        @Override
        public int hashCode() {
            return amount.stripTrailingZeros().hashCode();
        }
    }

    private record HasArray(int[] numbers) {}

    private static final class IgnoresAField implements Serializable {
        private static final long serialVersionUID = 1L;
        private final String id;
        private final long loadedAt;

        IgnoresAField(String id, long loadedAt) {
            this.id = id;
            this.loadedAt = loadedAt;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof IgnoresAField that && id.equals(that.id);
        }

        @Override
        public int hashCode() {
            return id.hashCode() + (int) (0 * loadedAt);
        }
    }

    private static final class NeedsATransient implements Serializable {
        private static final long serialVersionUID = 1L;
        private final transient String id;

        NeedsATransient(String id) {
            this.id = id;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof NeedsATransient that && id.equals(that.id);
        }

        @Override
        public int hashCode() {
            return Objects.hashCode(id);
        }
    }

    private static final class LosesItsHash implements Serializable {
        private static final long serialVersionUID = 1L;
        private final String id;
        private final transient int hash;

        LosesItsHash(String id) {
            this.id = id;
            this.hash = id.hashCode();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof LosesItsHash that && id.equals(that.id);
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    private static final class Replaced implements Serializable {
        private static final long serialVersionUID = 1L;

        private Object writeReplace() {
            return "x";
        }
    }

    /** Writes itself. */
    public static final class Written implements Externalizable {
        private static final long serialVersionUID = 1L;

        @Override
        public void writeExternal(ObjectOutput out) {}

        @Override
        public void readExternal(ObjectInput in) {}
    }

    private static final class Plain {
        @Override
        public boolean equals(Object other) {
            return other instanceof Plain;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    private static Stream<Object> refusedKeys() {
        final Runnable lambda = (Runnable & Serializable) () -> {};
        final List<Object> cyclic = new ArrayList<>();
        cyclic.add(cyclic);
        return Stream.of(
                new NoEquals(),
                new IgnoresCase("a"),
                new IgnoresScale(BigDecimal.ONE),
                new HasArray(new int[] {1}),
                new IgnoresAField("a", 1),
                new NeedsATransient("a"),
                new LosesItsHash("a"),
                new Replaced(),
                new Written(),
                new Plain(),
                lambda,
                cyclic,
                new IdentityHashMap<>(Map.of("a", 2)),
                new StringBuilder("a"),
                new IllegalStateException("a"),
                List.of(new NoEquals()));
    }

    @ParameterizedTest
    @MethodSource("refusedKeys")
    void shouldRefuseWhatMayHaveEqualKeysOfOtherBytes(Object key) {
        final String name = key instanceof List<?> list && list.get(0) != list
                ? NoEquals.class.getName()
                : key.getClass().getName();
        for (int time = 0; time < 2; time++) {
            assertThatThrownBy(() -> encode(key))
                    .isInstanceOf(KeyClassException.class)
                    .hasMessageContaining("a " + name + " cannot be a key")
                    .hasMessageContaining("keys=serialized");
        }
    }

    @Test
    void shouldNameTheFieldThatIsNoPartOfEquality() {
        assertThatThrownBy(() -> encode(new IgnoresAField("a", 1))).hasMessageContaining("field loadedAt");
    }

    // --- hostile bytes ---

    @Test
    void shouldAnswerAnyBytesWithAKeyOrAnErrorOfItsOwn() {
        final List<Object> keys =
                shapes().limit(45).map(shape -> shape.one().apply(5)).toList();
        final SplittableRandom random = new SplittableRandom(11);
        int malformed = 0;
        for (int i = 0; i < TestScale.of(20_000, 400_000); i++) {
            byte[] bytes = encode(keys.get(random.nextInt(keys.size())));
            for (int flips = random.nextInt(1, 4); flips > 0; flips--) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            if (random.nextInt(4) == 0) {
                bytes = Arrays.copyOf(bytes, random.nextInt(1, bytes.length + 3));
            }
            try {
                assertThat(decode(bytes)).isNotNull();
            } catch (javax.cache.CacheException e) {
                malformed++;
            }
        }
        assertThat(malformed).isPositive();
    }

    @Test
    void shouldBoundTheLevelsOfStoredKeys() {
        final ByteSink sink = new ByteSink(8);
        for (int level = 0; level < 5000; level++) {
            sink.write(Tag.LIST);
            sink.writeInt(5 * (4999 - level));
        }
        assertThatThrownBy(() -> decode(sink.toBytes()))
                .isInstanceOf(MalformedBytesException.class)
                .hasMessageContaining("levels");
    }

    @Test
    void shouldReadNoClassThatTheRulesRefuse() {
        final byte[] bytes = encode(new Pair("a", "b"));
        final Codec closed = new Codec(
                new LoaderReference(KeysTest.class.getClassLoader()),
                new ClassRules(List.of(), ""),
                KeyFormat.STRUCTURAL,
                true);
        assertThatThrownBy(() -> closed.decode(bytes, 0, bytes.length)).isInstanceOf(ClassNotAllowedException.class);
        assertThatThrownBy(() -> closed.encodeKey(new Pair("a", "b"), new ByteSink(8)))
                .isInstanceOf(ClassNotAllowedException.class);
    }

    @Test
    void shouldKeepTheBytesOfAKeyForEver() {
        assertThat(HexFormat.of().formatHex(encode(List.of(1, "a", Map.of("k", Optional.empty())))))
                .isEqualTo("29" + "00000005" + "0400000001" + "00000002" + "0261" + "0000000c" + "2b" + "00000002"
                        + "026b" + "00000001" + "2d");
        final byte[] name = Pair.class.getName().getBytes(StandardCharsets.UTF_8);
        assertThat(HexFormat.of().formatHex(encode(new Pair("x", null))))
                .isEqualTo("30" + String.format("%04x", name.length)
                        + HexFormat.of().formatHex(name) + "00000002" + "0278" + "00000001" + "28");
    }
}
