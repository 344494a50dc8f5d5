package org.rowankv.jcache.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.Function;
import net.jqwik.api.Assume;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** For each JDK collection, the steps counted in advance cover the hashing and comparing on reading. */
final class SerializedStepsTest {
    private static final Codec CODEC = new Codec(
            new LoaderReference(SerializedStepsTest.class.getClassLoader()),
            new ClassRules(List.of(Leaf.class), ""),
            KeyFormat.STRUCTURAL,
            true);

    /** Counts its hash and compare calls. */
    private static final class Leaf implements Serializable, Comparable<Leaf> {
        private static final long serialVersionUID = 1L;
        private static long calls;
        private final int number;

        Leaf(int number) {
            this.number = number;
        }

        @Override
        public int hashCode() {
            calls++;
            return number;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Leaf leaf && leaf.number == number;
        }

        @Override
        public int compareTo(Leaf other) {
            calls++;
            return Integer.compare(number, other.number);
        }
    }

    /** Collections of elements of any kind. */
    private static final List<Function<List<Object>, Object>> ANY = List.of(
            ArrayList::new,
            LinkedList::new,
            Vector::new,
            ArrayDeque::new,
            ConcurrentLinkedDeque::new,
            CopyOnWriteArrayList::new,
            CopyOnWriteArraySet::new,
            List::copyOf,
            List::toArray,
            each -> Arrays.asList(each.toArray()),
            Collections::unmodifiableList,
            HashSet::new,
            LinkedHashSet::new,
            Set::copyOf,
            each -> Collections.unmodifiableSet(new HashSet<>(each)),
            each -> setFromMap(each),
            each -> new HashMap<>(mapOf(each)),
            each -> new LinkedHashMap<>(mapOf(each)),
            each -> new Hashtable<>(mapOf(each)),
            each -> new ConcurrentHashMap<>(mapOf(each)),
            each -> new IdentityHashMap<>(mapOf(each)),
            each -> Map.copyOf(mapOf(each)),
            each -> Collections.unmodifiableMap(new Hashtable<>(mapOf(each))),
            each -> new AbstractMap.SimpleEntry<>(each.get(0), each));
    /**
     * Collections of elements of any kind; they contain themselves as locks, so they are refused where they are hashed.
     */
    private static final List<Function<List<Object>, Object>> LOCKED = List.of(
            Collections::synchronizedList,
            each -> Collections.synchronizedSet(new HashSet<>(each)),
            each -> Collections.synchronizedMap(new HashMap<>(mapOf(each))));
    /** Collections of comparable elements. */
    private static final List<Function<List<Leaf>, Object>> SORTED = List.of(
            TreeSet::new,
            ConcurrentSkipListSet::new,
            PriorityQueue::new,
            each -> new TreeMap<>(mapOf(each)),
            each -> new ConcurrentSkipListMap<>(mapOf(each)));

    private static <T> Map<T, Object> mapOf(Collection<T> keys) {
        final Map<T, Object> map = new HashMap<>();
        keys.forEach(key -> map.put(key, "v"));
        return map;
    }

    private static Set<Object> setFromMap(Collection<Object> elements) {
        final Set<Object> set = Collections.newSetFromMap(new ConcurrentHashMap<>());
        set.addAll(elements);
        return set;
    }

    private static List<Leaf> leaves(Random random) {
        final List<Leaf> leaves = new ArrayList<>();
        for (int i = 1 + random.nextInt(5); i > 0; i--) {
            leaves.add(new Leaf(random.nextInt(1_000)));
        }
        return leaves;
    }

    private static Object random(Random random, int depth) {
        if (depth == 0) {
            return new Leaf(random.nextInt(1_000));
        }
        if (random.nextInt(5) == 0) {
            return SORTED.get(random.nextInt(SORTED.size())).apply(leaves(random));
        }
        final List<Object> elements = new ArrayList<>();
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            elements.add(random(random, random.nextInt(depth)));
        }
        return ANY.get(random.nextInt(ANY.size())).apply(elements);
    }

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

    private static void assertCounted(Object value) {
        final byte[] bytes = serialized(value);
        final long steps = SerializedScan.check(bytes, 1, bytes.length - 1);
        Leaf.calls = 0;
        final Object read = CODEC.decode(bytes, 0, bytes.length);
        // A heap compares an element about twice; hashing visits it once.
        assertThat(Leaf.calls)
                .as("calls for a %s, %d steps counted", read.getClass().getName(), steps)
                .isLessThanOrEqualTo(2 * steps);
    }

    @Example
    void shouldCountWhatEachCollectionHashesOrComparesWhenItIsRead() {
        final List<Leaf> leaves = List.of(new Leaf(3), new Leaf(1), new Leaf(2), new Leaf(7), new Leaf(5));
        ANY.forEach(kind -> assertCounted(kind.apply(new ArrayList<>(leaves))));
        LOCKED.forEach(kind -> assertCounted(kind.apply(new ArrayList<>(leaves))));
        SORTED.forEach(kind -> assertCounted(kind.apply(leaves)));
    }

    /** Rarely it cannot be made or read: keys with equal hashes, of which one cannot compare with the other's content. */
    private static Optional<Object> readableByJava(long seed) throws IOException, ClassNotFoundException {
        try {
            final Object value = random(new Random(seed), 4);
            final byte[] bytes = serialized(value);
            try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes, 1, bytes.length - 1))) {
                return in.readObject() == null ? Optional.empty() : Optional.of(value);
            }
        } catch (ClassCastException e) {
            return Optional.empty();
        }
    }

    @Property(tries = 500)
    void shouldCountWhatNestedCollectionsHashWhenTheyAreRead(@ForAll long seed)
            throws IOException, ClassNotFoundException {
        final Optional<Object> value = readableByJava(seed);
        Assume.that(value.isPresent());
        assertCounted(value.get());
    }
}
