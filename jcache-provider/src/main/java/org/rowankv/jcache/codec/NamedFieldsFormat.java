package org.rowankv.jcache.codec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Format of values that are records, plain Serializable classes and common collections of these: fields by name. A
 * class may gain fields, which are then null or 0, and lose some. Thread-safe.
 *
 * <p>Not written here, but by Java serialization: classes with serialization code of their own, other collections,
 * arrays of objects, and values of more than {@value #MAX_DEPTH} levels or {@value #MAX_PARTS} parts, such as cycles. A
 * part that occurs twice becomes two equal ones.
 */
final class NamedFieldsFormat {
    private static final int MAX_DEPTH = 32;
    private static final int MAX_PARTS = 1 << 20;
    private static final int SLOT_BITS = 6;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    /**
     * A class and the fields that stored headers name. The class holds its plan.
     *
     * @param places of the stored fields in the class; -1: gone
     * @param isPresent whether these are the class's fields as they are now
     */
    private record Known(WeakReference<ClassPlan> plan, byte[] header, int[] places, boolean isPresent) {}

    /** A collection class and how to make one from its elements; its ordinal + 1 is stored, so the order is fixed. */
    private enum Kind {
        ARRAY_LIST("java.util.ArrayList", ArrayList::new),
        LIST_OF("java.util.ImmutableCollections$List", List::copyOf),
        AS_LIST("java.util.Arrays$ArrayList", elements -> Arrays.asList(elements.toArray())),
        HASH_SET("java.util.HashSet", HashSet::new),
        LINKED_HASH_SET("java.util.LinkedHashSet", LinkedHashSet::new),
        TREE_SET("java.util.TreeSet", TreeSet::new),
        SET_OF("java.util.ImmutableCollections$Set", Set::copyOf),
        HASH_MAP("java.util.HashMap", elements -> fill(new HashMap<>(), elements)),
        LINKED_HASH_MAP("java.util.LinkedHashMap", elements -> fill(new LinkedHashMap<>(), elements)),
        TREE_MAP("java.util.TreeMap", elements -> fill(new TreeMap<>(), elements)),
        MAP_OF("java.util.ImmutableCollections$Map", elements -> Map.copyOf(fill(new HashMap<>(), elements)));

        private static final Kind[] ALL = values();

        private final String className;
        private final Function<List<@Nullable Object>, Object> maker;

        Kind(String className, Function<List<@Nullable Object>, Object> maker) {
            this.className = className;
            this.maker = maker;
        }

        private static Map<@Nullable Object, @Nullable Object> fill(
                Map<@Nullable Object, @Nullable Object> map, List<@Nullable Object> elements) {
            for (int i = 0; i + 1 < elements.size(); i += 2) {
                map.put(elements.get(i), elements.get(i + 1));
            }
            return map;
        }

        private static @Nullable Kind of(Object value) {
            final String name = value.getClass().getName();
            for (Kind kind : ALL) {
                final boolean isFamily = kind.className.indexOf('$') > 0 && kind != AS_LIST;
                if (isFamily ? name.startsWith(kind.className) : name.equals(kind.className)) {
                    return isSortedByOthers(value) ? null : kind;
                }
            }
            return null;
        }

        private static boolean isSortedByOthers(Object value) {
            return value instanceof TreeMap<?, ?> map && map.comparator() != null
                    || value instanceof TreeSet<?> set && set.comparator() != null;
        }
    }

    /** Whether and how a class is written here. Held by the class itself. */
    private static final ClassValue<Optional<ClassPlan>> PLANS = new ClassValue<>() {
        @Override
        protected Optional<ClassPlan> computeValue(Class<?> type) {
            try {
                return Optional.of(ClassPlan.of(type)).filter(ClassPlan::isPlain);
            } catch (KeyClassException e) {
                return Optional.empty();
            }
        }
    };

    private final Codec codec;
    private final LoaderReference loader;
    private final ClassRules rules;
    /** Classes that this codec has met and may read and write, by the hash of their headers. */
    private final AtomicReferenceArray<@Nullable Known> known = new AtomicReferenceArray<>(1 << SLOT_BITS);

    NamedFieldsFormat(Codec codec, LoaderReference loader, ClassRules rules) {
        this.codec = codec;
        this.loader = loader;
        this.rules = rules;
    }

    static boolean isNamed(byte tag) {
        return tag == Tag.NAMED_FIELDS || tag == Tag.COLLECTION;
    }

    /** Writes the value if this format keeps all of it; returns whether it did, else nothing is written. */
    boolean write(Object value, ByteSink out) {
        final int start = out.length();
        boolean written = false;
        try {
            written = write(value, out, 0, new int[] {MAX_PARTS});
        } finally {
            if (!written) {
                out.truncate(start);
            }
        }
        return written;
    }

    private boolean write(Object value, ByteSink out, int depth, int[] partsLeft) {
        if (depth > MAX_DEPTH || --partsLeft[0] < 0) {
            return false;
        }
        if (Codec.encodeValueType(value, out)) {
            return true;
        }
        if (value.getClass().isArray()) {
            if (value instanceof Object[]) {
                return false;
            }
            out.write(Tag.PRIMITIVE_ARRAY);
            JdkFormat.writeArray(value, out);
            return true;
        }
        if (value instanceof Collection || value instanceof Map) {
            return writeCollection(value, out, depth, partsLeft);
        }
        final ClassPlan plan = PLANS.get(value.getClass()).orElse(null);
        if (plan == null) {
            return false;
        }
        requireKnown(value.getClass(), plan);
        final byte[] header = plan.header();
        out.write(Tag.NAMED_FIELDS);
        out.writeShort(header.length);
        out.write(header, 0, header.length);
        for (int i = 0; i < plan.fields().size(); i++) {
            if (!element(plan.get(i, value), out, depth, partsLeft)) {
                return false;
            }
        }
        return header.length <= 0xffff;
    }

    private boolean writeCollection(Object value, ByteSink out, int depth, int[] partsLeft) {
        final Kind kind = Kind.of(value);
        if (kind == null) {
            return false;
        }
        out.write(Tag.COLLECTION);
        out.write(kind.ordinal() + 1);
        if (value instanceof Map<?, ?> map) {
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                if (!element(entry.getKey(), out, depth, partsLeft)
                        || !element(entry.getValue(), out, depth, partsLeft)) {
                    return false;
                }
            }
            return true;
        }
        for (Object each : (Collection<?>) value) {
            if (!element(each, out, depth, partsLeft)) {
                return false;
            }
        }
        return true;
    }

    private boolean element(@Nullable Object value, ByteSink out, int depth, int[] partsLeft) {
        final int at = out.claim(1);
        if (value == null) {
            out.write(Tag.NULL);
        } else if (!write(value, out, depth + 1, partsLeft)) {
            return false;
        }
        out.setVarint(at);
        return true;
    }

    // --- reading ---

    /** Decodes what {@link #write} has written. */
    Object read(byte[] bytes, int offset, int length) {
        final ByteSource in = new ByteSource(bytes, offset, length);
        final Object value = read(in, 0);
        in.leave(0);
        return value;
    }

    /** Reads an object, which must end with the source. */
    private Object read(ByteSource in, int depth) {
        final byte tag = in.readByte();
        return switch (tag) {
            case Tag.STRING_LATIN1 -> {
                final int length = in.remaining();
                yield StringFormat.readLatin1(in.bytes(), in.skip(length), length);
            }
            case Tag.LONG -> in.readLong();
            case Tag.INTEGER -> in.readInt();
            case Tag.NAMED_FIELDS -> object(in, depth);
            case Tag.COLLECTION -> collection(in, depth);
            case Tag.PRIMITIVE_ARRAY -> JdkFormat.readArray(in);
            default -> {
                final int length = in.remaining();
                yield codec.decodeValueType(in.bytes(), in.skip(length) - 1, length + 1);
            }
        };
    }

    private @Nullable Object element(ByteSource in, int depth) {
        if (depth >= MAX_DEPTH) {
            throw new MalformedBytesException("a stored value has more than " + MAX_DEPTH + " levels");
        }
        final int outerEnd = in.enter(in.readVarint());
        final Object value;
        if (in.remaining() == 1 && in.peek() == Tag.NULL) {
            in.skip(1);
            value = null;
        } else {
            value = read(in, depth + 1);
        }
        in.leave(outerEnd);
        return value;
    }

    private Object collection(ByteSource in, int depth) {
        final int number = in.readByte();
        if (number < 1 || number > Kind.ALL.length) {
            throw new MalformedBytesException(
                    "a stored collection is of kind " + number + ", which this version does not support");
        }
        final List<@Nullable Object> elements = new ArrayList<>();
        while (in.remaining() > 0) {
            elements.add(element(in, depth));
        }
        try {
            return Kind.ALL[number - 1].maker.apply(elements);
        } catch (RuntimeException e) { // of compareTo, equals or hashCode, or null where there may be none
            throw new MalformedBytesException("a stored collection cannot be made from its elements", e);
        }
    }

    private Object object(ByteSource in, int depth) {
        final int length = in.readShort() & 0xffff;
        final Known found = find(in.bytes(), in.skip(length), length);
        final ClassPlan plan = found.plan().get();
        if (plan == null) {
            throw new MalformedBytesException("the class of a stored value has just been unloaded");
        }
        final @Nullable Object[] values = new @Nullable Object[plan.fields().size()];
        for (int place : found.places()) {
            final Object value = element(in, depth);
            if (place >= 0) {
                values[place] = value;
            }
        }
        if (!found.isPresent()) {
            setMissing(values, plan, found.places());
        }
        return plan.make(values);
    }

    /** Fields that were added since: 0 and false, as null is for the others. */
    private static void setMissing(@Nullable Object[] values, ClassPlan plan, int[] places) {
        final boolean[] stored = new boolean[values.length];
        for (int place : places) {
            if (place >= 0) {
                stored[place] = true;
            }
        }
        for (int i = 0; i < values.length; i++) {
            final Class<?> type = plan.fields().get(i).getType();
            if (!stored[i] && type.isPrimitive()) {
                values[i] = Array.get(Array.newInstance(type, 1), 0);
            }
        }
    }

    /** The hash's highest bits. Headers of one package differ late, so all bytes count; eight at a time. */
    private static int slotOf(byte[] bytes, int at, int length) {
        long hash = length;
        int i = at;
        for (final int last = at + length - Long.BYTES; i <= last; i += Long.BYTES) {
            hash = (hash ^ (long) LONGS.get(bytes, i)) * GOLDEN_GAMMA;
            hash ^= hash >>> 32;
        }
        for (; i < at + length; i++) {
            hash = (hash ^ bytes[i]) * GOLDEN_GAMMA;
        }
        return (int) (hash * GOLDEN_GAMMA >>> Long.SIZE - SLOT_BITS);
    }

    /** Checks the class, unless that was done before. */
    private void requireKnown(Class<?> type, ClassPlan plan) {
        final byte[] header = plan.header();
        final int slot = slotOf(header, 0, header.length);
        final Known found = known.get(slot);
        if (found != null && found.header() == header && found.plan().refersTo(plan)) {
            return;
        }
        rules.checkWithJvmFilter(type);
        final int[] places = new int[plan.fields().size()];
        Arrays.setAll(places, i -> i);
        known.set(slot, new Known(new WeakReference<>(plan), header, places, true));
    }

    private Known find(byte[] bytes, int at, int length) {
        final int slot = slotOf(bytes, at, length);
        final Known found = known.get(slot);
        if (found != null
                && Arrays.equals(found.header(), 0, found.header().length, bytes, at, at + length)
                && !found.plan().refersTo(null)) {
            return found;
        }
        final Known made = parse(new ByteSource(bytes, at, length));
        known.set(slot, made);
        return made;
    }

    private Known parse(ByteSource in) {
        final byte[] header = Arrays.copyOfRange(in.bytes(), in.skip(0), in.skip(0) + in.remaining());
        final Class<?> type = loader.load(Codec.readName(in));
        rules.checkWithJvmFilter(type);
        final ClassPlan plan = PLANS.get(type)
                .orElseThrow(() -> new MalformedBytesException(
                        type + " has serialization code of its own now; a stored one cannot be read"));
        final List<String> names = plan.fields().stream().map(Field::getName).toList();
        final List<Integer> places = new ArrayList<>();
        while (in.remaining() > 0) {
            places.add(names.indexOf(Codec.readName(in)));
        }
        return new Known(
                new WeakReference<>(plan),
                header,
                places.stream().mapToInt(Integer::intValue).toArray(),
                Arrays.equals(header, plan.header()));
    }
}
