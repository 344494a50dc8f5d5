package org.rowankv.jcache.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.cache.CacheException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Small values that take hours or gigabytes to read are refused; large ordinary ones are read. */
class SerializedBudgetTest {
    private static final Codec CODEC = new Codec(
            new LoaderReference(SerializedBudgetTest.class.getClassLoader()),
            new ClassRules(List.of(Node.class), ""),
            KeyFormat.STRUCTURAL,
            true);

    /** A node of a linked structure; equal to itself alone. */
    private static final class Node implements Serializable {
        private static final long serialVersionUID = 1L;
        final HashSet<Node> children = new HashSet<>();
        Node next;
    }

    /** Serializes without a budget. */
    private static byte[] serialized(Object value) {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.write(Tag.SERIALIZED);
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(value);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return bytes.toByteArray();
    }

    private static Object decode(byte[] bytes) {
        return CODEC.decode(bytes, 0, bytes.length);
    }

    private static long steps(byte[] bytes) {
        return SerializedScan.check(bytes, 1, bytes.length - 1);
    }

    private static void assertRefused(byte[] bytes, String why) {
        assertThatThrownBy(() -> decode(bytes))
                .isInstanceOf(MalformedBytesException.class)
                .hasMessageContaining(why);
    }

    /** Both in hexadecimal. */
    private static byte[] patched(byte[] bytes, String pattern, String replacement) {
        final String text = HexFormat.of().formatHex(bytes);
        assertThat(text).contains(pattern);
        return HexFormat.of().parseHex(text.replace(pattern, replacement));
    }

    /** Two of each in each: filled while empty, so that building it costs nothing. */
    private static Object doubled(int levels, UnaryOperator<Object> inSet) {
        final Set<Object> root = new HashSet<>();
        Set<Object> one = root;
        Set<Object> other = new HashSet<>();
        for (int i = 0; i < levels; i++) {
            final Set<Object> nextOne = new HashSet<>();
            final Set<Object> nextOther = new HashSet<>();
            nextOne.add("different");
            for (Set<Object> each : List.of(one, other)) {
                each.add(inSet.apply(nextOne));
                each.add(inSet.apply(nextOther));
            }
            one = nextOne;
            other = nextOther;
        }
        return root;
    }

    private static List<Object> listsOfOne(int levels, int times) {
        List<Object> inner = new ArrayList<>(List.of("x"));
        for (int i = 0; i < levels; i++) {
            inner = new ArrayList<>(Collections.nCopies(times, inner));
        }
        return inner;
    }

    /** Hashes its elements when read; built without hashing elements added later. */
    private static byte[] inSet(List<Object> late) {
        final List<Object> element = new ArrayList<>();
        final Set<Object> set = new HashSet<>();
        set.add(element);
        element.addAll(late);
        return serialized(set);
    }

    static Stream<byte[]> exponential() {
        final List<Object> keyOfMap = new ArrayList<>();
        final Map<Object, Object> map = new HashMap<>(Map.of(keyOfMap, "v"));
        final Map<Object, Object> table = new Hashtable<>(Map.of(keyOfMap, "v"));
        final Map<Object, Object> concurrent = new ConcurrentHashMap<>(Map.of(keyOfMap, "v"));
        final Map<Object, Object> linked = new LinkedHashMap<>(Map.of(keyOfMap, "v"));
        final Set<Object> linkedSet = new LinkedHashSet<>(Set.of(keyOfMap));
        final Set<Object> immutableSet = Set.of(keyOfMap);
        final Map<Object, Object> immutableMap = Map.of(keyOfMap, "v");
        keyOfMap.addAll(listsOfOne(60, 2));
        return Stream.of(
                serialized(doubled(60, set -> set)),
                serialized(doubled(60, set -> Collections.unmodifiableSet((Set<?>) set))),
                inSet(listsOfOne(60, 2)),
                inSet(listsOfOne(3, 3_000)),
                inSet(List.of(new LinkedList<>(listsOfOne(3, 3_000)))),
                inSet(List.of(Arrays.asList(listsOfOne(60, 2).toArray()))),
                serialized(map),
                serialized(table),
                serialized(concurrent),
                serialized(linked),
                serialized(linkedSet),
                serialized(immutableSet),
                serialized(immutableMap));
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("exponential")
    void shouldRefuseWhatTakesExponentialStepsToHash(byte[] bomb) {
        assertThat(bomb.length).as("small").isLessThan(100_000);
        assertRefused(bomb, "steps to hash");
    }

    @Test
    void shouldRefuseToHashABigNumberAgainAndAgain() {
        final BigInteger big = BigInteger.ONE.shiftLeft(8 * 200_000);
        assertRefused(inSet(new ArrayList<>(Collections.nCopies(20_000, big))), "steps to hash");
    }

    @Test
    void shouldRefuseASetThatHoldsItself() {
        final Set<Object> set = new HashSet<>();
        set.add(set);
        assertRefused(serialized(set), "steps to hash");
    }

    @Test
    void shouldNotWriteWhatItWouldNotRead() {
        final ByteSink sink = new ByteSink(8);
        assertThatThrownBy(() -> CODEC.encode(doubled(60, set -> set), sink))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("would be refused when read")
                .hasRootCauseMessage(refusalOf(serialized(doubled(60, set -> set))));
    }

    private static String refusalOf(byte[] bytes) {
        try {
            decode(bytes);
        } catch (MalformedBytesException e) {
            return e.getMessage();
        }
        throw new AssertionError("it was read");
    }

    /** Each array announces more elements than there are bytes, within the limit of one array. */
    @Test
    void shouldRefuseArraysWithinArraysThatAnnounceMoreThanThereIs() throws IOException {
        final byte[] empty = serialized(new Object[0]);
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final DataOutputStream out = new DataOutputStream(bytes);
        out.write(empty, 0, empty.length - Integer.BYTES);
        out.writeInt(11_000_000);
        for (int i = 0; i < 30; i++) {
            out.writeByte(0x75); // an array
            out.writeByte(0x71); // of the described class
            out.writeInt(0x7e0000); // first handle
            out.writeInt(11_000_000);
        }
        for (int i = 0; i < 700_000; i++) {
            out.writeByte(0x70); // null
        }
        assertRefused(bytes.toByteArray(), "more elements than its");
    }

    @Test
    void shouldRefuseMapsThatAnnounceMoreThanThereIs() {
        Object inner = "x";
        for (int i = 0; i < 31; i++) {
            final Map<Object, Object> outer = new HashMap<>();
            outer.put("k", inner);
            inner = outer;
        }
        final byte[] honest = serialized(new ArrayList<>(List.of(inner, new byte[700_000])));
        assertThat(decode(honest)).isInstanceOf(ArrayList.class);
        // Numbers of buckets and of mappings.
        final byte[] lying = patched(honest, "77080000001000000001", "770800000010000aae60");
        assertRefused(lying, "arrays and tables");
    }

    @Test
    void shouldRefuseASetWhoseTableWouldGrowWithEachElement() {
        final Set<Integer> set = IntStream.range(0, 40).boxed().collect(Collectors.toCollection(HashSet::new));
        final byte[] honest = serialized(set);
        assertThat(decode(honest)).isEqualTo(set);
        assertRefused(patched(honest, "3f40000000000028", "0000000100000028"), "load factor");
    }

    @Test
    void shouldRefuseASetWithoutItsCapacityAndLoadFactorInOneBlock() {
        final byte[] honest = serialized(new HashSet<>(List.of("a")));
        final byte[] split = patched(honest, "770c000000103f40000000000001", "7704000000107708" + "3f40000000000001");
        assertRefused(split, "capacity, load factor and size");
    }

    /** Java serialization accepts two bytes for a one-byte character: it would resolve another class. */
    @Test
    void shouldRefuseTheNameOfAClassInAnotherForm() {
        final String usual = "0011" + HexFormat.of().formatHex("java.util.HashSet".getBytes(StandardCharsets.US_ASCII));
        final byte[] other = patched(serialized(new HashSet<>()), usual, usual.replace("00116a", "0012c1aa"));
        assertThatThrownBy(() -> steps(other)).hasMessageContaining("unusual form of a character");
    }

    @Test
    void shouldReadNamesInOtherAlphabets() throws IOException {
        final byte[] empty = serialized(new Object[0]);
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final DataOutputStream out = new DataOutputStream(bytes);
        out.write(empty, 0, 1 + 2 * Short.BYTES);
        out.writeByte(0x72); // a class
        out.writeUTF("a\u0000\u00f6\u039c\uffff");
        out.writeLong(0);
        out.writeByte(2); // serializable
        out.writeShort(0);
        out.writeByte(0x78); // no annotation
        out.writeByte(0x70); // no superclass
        assertThat(steps(bytes.toByteArray())).isZero();
    }

    /**
     * Java serialization skips a field that the class lacks, so any field could be the one that distinguishes a list
     * from a set.
     */
    @Test
    void shouldRefuseFieldsThatAnUnchangeableCollectionLacks() {
        final byte[] one = serialized(Set.of("a"));
        assertThat(decode(one)).isEqualTo(Set.of("a"));
        final String tag = "490003" + HexFormat.of().formatHex("tag".getBytes(StandardCharsets.US_ASCII));
        final byte[] two = patched(
                one,
                "0001" + tag,
                "0002" + tag + "490003" + HexFormat.of().formatHex("zzz".getBytes(StandardCharsets.US_ASCII)));
        assertRefused(two, "other fields than it has");
    }

    /** Descriptions that refer to each other are not nested, and each object traverses all of them. */
    @Test
    void shouldRefuseALongChainOfSuperclasses() throws IOException {
        final byte[] empty = serialized(new Object[0]);
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final DataOutputStream out = new DataOutputStream(bytes);
        out.write(empty, 0, empty.length - Integer.BYTES);
        final int classes = 45_000;
        out.writeInt(classes);
        for (int i = 0; i < classes; i++) {
            out.writeByte(0x72); // a class
            out.writeUTF("C");
            out.writeLong(0);
            out.writeByte(2); // serializable
            out.writeShort(0);
            out.writeByte(0x78); // no annotation
            out.writeByte(i == 0 ? 0x70 : 0x71); // the previous class, by its handle
            if (i > 0) {
                out.writeInt(0x7e0000 + 1 + i);
            }
        }
        assertRefused(bytes.toByteArray(), "superclasses");
    }

    private static Object nested(int levels) {
        Object inner = "x";
        for (int i = 1; i < levels; i++) {
            inner = new ArrayList<>(List.of(inner));
        }
        return inner;
    }

    @Test
    void shouldReadObjectsAsDeepAsItSaysAndNoDeeper() {
        assertThat(decode(serialized(nested(SerializedScan.MAX_DEPTH)))).isEqualTo(nested(SerializedScan.MAX_DEPTH));
        assertRefused(serialized(nested(SerializedScan.MAX_DEPTH + 1)), "more than 256 deep");
        Node first = null;
        for (int i = 0; i < 200; i++) {
            final Node node = new Node();
            node.next = first;
            first = node;
        }
        assertThat(((Node) decode(serialized(first))).next.next.next).isNotNull();
    }

    static Stream<Object> legitimate() {
        final List<Map<String, Object>> rows = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            rows.add(new HashMap<>(Map.of("id", i, "name", "n" + i, "kind", "row")));
        }
        Object settings = "value";
        for (int i = 0; i < 8; i++) {
            settings = new HashMap<>(
                    Map.of("inner", settings, "list", List.of(1, 2, 3), "set", new HashSet<>(Set.of("a", "b"))));
        }
        Set<Object> sets = new HashSet<>(Set.of("leaf"));
        for (int i = 0; i < 8; i++) {
            sets = new HashSet<>(Set.of(sets, "level " + i, List.of(i, "x")));
        }
        final List<Integer> shared = IntStream.range(0, 2_000).boxed().collect(Collectors.toCollection(ArrayList::new));
        final Map<Integer, Object> sharing = new HashMap<>();
        for (int i = 0; i < 600; i++) {
            sharing.put(i, shared);
        }
        final Properties properties = new Properties();
        properties.setProperty("k", "v");
        final BitSet bits = new BitSet();
        bits.set(100_000);
        return Stream.of(
                new int[1_000_000],
                new ArrayList<>(List.of(1, "x")),
                new ArrayList<>(Collections.nCopies(1_000_000, null)),
                new ArrayList<>(shared),
                new PriorityQueue<>(shared).stream().toList(),
                new ArrayList<>(new ArrayDeque<>(shared)),
                IntStream.range(0, 100_000).mapToObj(i -> "key " + i).collect(Collectors.toCollection(HashSet::new)),
                rows,
                new HashSet<>(rows),
                settings,
                sets,
                sharing,
                properties,
                bits,
                new Hashtable<>(sharing),
                new ConcurrentHashMap<>(sharing),
                new LinkedHashMap<>(sharing),
                new TreeMap<>(sharing),
                new ConcurrentSkipListMap<>(sharing),
                new TreeSet<>(shared),
                new LinkedHashSet<>(shared),
                new LinkedList<>(shared),
                new Vector<>(shared),
                new CopyOnWriteArrayList<>(shared),
                new CopyOnWriteArraySet<>(List.of(1, 2)),
                new EnumMap<>(Map.of(TimeUnit.DAYS, shared)),
                EnumSet.of(TimeUnit.DAYS, TimeUnit.HOURS),
                Map.copyOf(sharing),
                Set.copyOf(shared),
                List.copyOf(shared),
                List.of(1, 2),
                Map.of(1, 2),
                Arrays.asList(1, null, 2),
                Collections.unmodifiableMap(sharing),
                Collections.synchronizedList(new ArrayList<>(shared)),
                new ArrayList<>(new HashMap<>(Map.of("a", true))
                        .entrySet().stream().map(AbstractMap.SimpleEntry::new).toList()),
                new BigInteger("123456789012345678901234567890"),
                new ArrayList<>(List.of(Locale.FRANCE, java.net.URI.create("a:b"), new java.util.Date(5))),
                new ArrayList<>(List.of(java.time.Instant.EPOCH, java.time.ZonedDateTime.parse("2020-01-01T00:00Z"))),
                new java.sql.Timestamp(5),
                java.net.InetSocketAddress.createUnresolved("host", 1));
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("legitimate")
    void shouldReadWhatIsLargeOrDeepOrShared(Object value) {
        final ByteSink sink = new ByteSink(8);
        CODEC.encode(value, sink);
        final Object read = CODEC.decode(sink.bytes(), 0, sink.length());
        assertThat(read.equals(value) || Arrays.equals((int[]) value, (int[]) read))
                .isTrue();
    }

    @Test
    void shouldReadALongArray() {
        assertThat((Object[]) decode(serialized(new Object[1_000_000]))).hasSize(1_000_000);
    }

    @Test
    void shouldReadObjectsThatReferToEachOther() {
        final Node parent = new Node();
        for (int i = 0; i < 1_000; i++) {
            final Node child = new Node();
            child.next = parent;
            parent.children.add(child);
        }
        final Node read = (Node) decode(serialized(parent));
        assertThat(read.children).hasSize(1_000).allMatch(child -> child.next == read);
        final Map<String, Object> itself = new HashMap<>();
        itself.put("itself", itself);
        final Map<?, ?> readToo = (Map<?, ?>) decode(serialized(itself));
        assertThat(readToo.get("itself") == readToo).isTrue();
        final IdentityHashMap<Object, Object> identities = new IdentityHashMap<>(Map.of("k", "v"));
        assertThat((Map<?, ?>) decode(serialized(identities))).hasSize(1);
    }

    /** The counted steps are the steps of hashing: each element once per collection that contains it. */
    @Test
    void shouldCountStepsAsOftenAsSomethingIsHashed() {
        assertThat(steps(serialized(new ArrayList<>(List.of(1, 2, 3))))).isZero();
        assertThat(steps(serialized(new HashSet<>(List.of(1, 2, 3))))).isEqualTo(3);
        assertThat(steps(serialized(new HashMap<>(Map.of(1, List.of(2), 3, 4)))))
                .isEqualTo(2);
        final Collection<Integer> ten = new ArrayList<>(Collections.nCopies(10, 1_000));
        assertThat(steps(serialized(new HashSet<>(List.of(ten, 5))))).isEqualTo(12);
        assertThat(steps(serialized(new HashSet<>(List.of(new HashSet<>(Set.of(ten)), 5)))))
                .as("the inner one hashes eleven, the outer one those, the inner one itself and a number")
                .isEqualTo(11 + 12 + 1);
    }

    @Test
    void shouldRefuseWhatIsCutOff() {
        final byte[] whole = serialized(new HashMap<>(Map.of("k", new ArrayList<>(List.of(1, 2)))));
        for (int length = 1; length < whole.length; length++) {
            final byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> decode(cut)).isInstanceOf(MalformedBytesException.class);
        }
    }
}
