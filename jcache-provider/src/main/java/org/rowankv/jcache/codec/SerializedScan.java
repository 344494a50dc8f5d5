package org.rowankv.jcache.codec;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Structural check of a serialized object before Java serialization reads it, without loading classes or creating
 * objects. It refuses objects whose cost is out of proportion to their bytes.
 *
 * <p>Budgets: bytes of the stream back each array element, object and field; objects nest at most {@link #MAX_DEPTH}
 * deep; collections that hash or compare their elements while read take at most {@link #FREE_STEPS} + {@value
 * #STEPS_PER_BYTE} × bytes steps for that. The last budget is the reason for this class. The hash code of a list visits
 * each element as often as it occurs, and a stream repeats an element for 5 bytes: 40 nested sets with each element
 * twice take 2^40 steps. {@code ObjectInputFilter} sees neither the class nor the target of a repetition.
 *
 * <p>It counts the JDK's collections, arrays and numbers. An object of another class counts as one step, because it has
 * its own hash code. An object that contains itself is refused where it is hashed; that includes a synchronized view of
 * a collection, which is its own lock. It does not count a search among equal hash codes, at worst quadratic in the
 * number of elements. A class with a {@code writeObject} must call {@code defaultWriteObject} or {@code writeFields}
 * first, as the specification of serialization requires; other streams are refused, because fields and data are
 * inseparable. For one stream.
 */
final class SerializedScan {
    static final int MAX_DEPTH = 256;
    /** Limit of a class with its superclasses: each object traverses all of them. */
    static final int MAX_CLASSES = 64;

    static final long FREE_STEPS = 1_000_000;
    static final int STEPS_PER_BYTE = 16;

    private static final short MAGIC = (short) 0xaced;
    private static final short VERSION = 5;
    private static final int FIRST_HANDLE = 0x7e0000;

    private static final int NULL = 0x70;
    private static final int REFERENCE = 0x71;
    private static final int CLASS_DESCRIPTION = 0x72;
    private static final int OBJECT = 0x73;
    private static final int STRING = 0x74;
    private static final int ARRAY = 0x75;
    private static final int CLASS = 0x76;
    private static final int BLOCK = 0x77;
    private static final int END_BLOCK = 0x78;
    private static final int LONG_BLOCK = 0x7a;
    private static final int LONG_STRING = 0x7c;
    private static final int PROXY_DESCRIPTION = 0x7d;
    private static final int ENUM = 0x7e;

    private static final int WRITE_METHOD = 1;
    private static final int SERIALIZABLE = 2;
    private static final int EXTERNALIZABLE = 4;
    private static final int BLOCK_DATA = 8;

    /** Weight of an object that contains itself: its hash code never ends. Sums of it do not overflow. */
    private static final long ENDLESS = Long.MAX_VALUE >> 32;
    /** Bytes that a step compares or hashes. */
    private static final int BYTES_PER_STEP = 16;
    /** Smaller ones let a table of a few elements fill the heap; not every JDK version clamps it. */
    private static final float LEAST_LOAD_FACTOR = 1f / 16;

    private static final int SET_BLOCK_LENGTH = 12;
    private static final int LOAD_FACTOR_OFFSET = 4;
    private static final int COLLECTION_SET = 2;
    private static final int COLLECTION_MAP = 3;
    /** Classes whose hash codes and comparisons visit their elements. */
    private static final List<String> STRUCTURAL_PACKAGES = List.of("java.util.", "java.math.");

    /** Treatment of the objects in a class's own part of the stream. */
    private enum Use {
        KEEPS,
        /** Hashes or compares all. */
        HASHES,
        /** Hashes the first of each pair, the key. */
        HASHES_KEYS,
        /** An immutable JDK collection: its first field decides. */
        BY_FIELD
    }

    /** A class as the stream describes it. */
    private static final class Description {
        String name = "";
        int flags;
        int primitiveBytes;
        int objectFields;
        boolean structural;
        Use use = Use.KEEPS;

        @Nullable
        Description parent;

        /** Number of classes including all superclasses. */
        int classes = 1;
    }

    private final ByteBuffer in;
    private final long maxSteps;
    private long steps;
    private int depth;
    private int handles;
    /** By handle, in steps. */
    private long[] weights = new long[64];

    private final Map<Integer, Description> descriptions = new HashMap<>();

    private SerializedScan(byte[] bytes, int offset, int length) {
        this.in = ByteBuffer.wrap(bytes, offset, length).slice();
        this.maxSteps = FREE_STEPS + (long) STEPS_PER_BYTE * length;
    }

    /**
     * Throws unless the bytes are one serialized object within the budgets.
     *
     * @return the steps of its hashing collections
     */
    static long check(byte[] bytes, int offset, int length) {
        final SerializedScan scan = new SerializedScan(bytes, offset, length);
        try {
            if (scan.in.getShort() != MAGIC || scan.in.getShort() != VERSION) {
                throw malformed("begins with no header of a serialized object");
            }
            final long unused = scan.object();
            return scan.steps;
        } catch (BufferUnderflowException e) {
            throw new MalformedBytesException(
                    "a serialized object ends too early: it announces more elements than its " + length
                            + " bytes hold, or was cut off",
                    e);
        }
    }

    private static MalformedBytesException malformed(String what) {
        return new MalformedBytesException("a serialized object cannot be read: it " + what);
    }

    /** Skips one object; returns its weight. */
    private long object() {
        if (++depth > MAX_DEPTH) {
            throw malformed("nests objects more than " + MAX_DEPTH + " deep");
        }
        final int tag = in.get();
        final long weight = switch (tag) {
            case NULL -> 1;
            case REFERENCE -> weights[handle()];
            case CLASS_DESCRIPTION, PROXY_DESCRIPTION -> {
                newDescription(tag);
                yield 1;
            }
            case OBJECT -> ordinary();
            case STRING -> string(in.getShort() & 0xffff);
            case LONG_STRING -> string(in.getLong());
            case ARRAY -> array();
            case CLASS -> {
                described();
                final int unused = newHandle(1);
                yield 1;
            }
            case ENUM -> {
                described();
                final int unused = newHandle(1);
                final long unusedName = object();
                yield 1;
            }
            default -> throw malformed("holds the tag " + tag + " at byte " + in.position());
        };
        depth--;
        return weight;
    }

    private int newHandle(long weight) {
        if (handles == weights.length) {
            weights = Arrays.copyOf(weights, 2 * handles);
        }
        weights[handles] = weight;
        return handles++;
    }

    private int handle() {
        final int handle = in.getInt() - FIRST_HANDLE;
        if (handle < 0 || handle >= handles) {
            throw malformed("refers to an object that it does not hold");
        }
        return handle;
    }

    private void skip(long count) {
        if (count < 0 || count > in.remaining()) {
            throw new BufferUnderflowException();
        }
        in.position(in.position() + (int) count);
    }

    private long string(long length) {
        skip(length);
        final long weight = 1 + length / BYTES_PER_STEP;
        final int unused = newHandle(weight);
        return weight;
    }

    /**
     * Reads a name as Java serialization does. That reader accepts several forms of a character, so another form than
     * the written one could name one class here and another there: it is refused.
     */
    private String name() {
        final byte[] bytes = new byte[Math.min(in.getShort() & 0xffff, in.remaining() + 1)];
        in.get(bytes);
        final StringBuilder name = new StringBuilder(bytes.length);
        for (int i = 0; i < bytes.length; ) {
            final int first = bytes[i] & 0xff;
            final int length = first < 0x80 ? 1 : first < 0xe0 ? 2 : 3;
            int character = length == 1 ? first : first & (length == 2 ? 0x1f : 0x0f);
            for (int next = i + 1; next < i + length; next++) {
                character = character << 6 | (next < bytes.length ? bytes[next] & 0x3f : 0);
            }
            if (i + length > bytes.length || !isForm(character, bytes, i, length)) {
                throw malformed("has a name with an unusual form of a character at byte " + in.position());
            }
            name.append((char) character);
            i += length;
        }
        return name.toString();
    }

    /** Whether these bytes are the form of the character that {@link java.io.DataOutput#writeUTF} writes. */
    private static boolean isForm(int character, byte[] bytes, int at, int length) {
        return switch (length) {
            case 1 -> character != 0;
            case 2 ->
                (character == 0 || character >= 0x80) && (bytes[at] & 0xe0) == 0xc0 && (bytes[at + 1] & 0xc0) == 0x80;
            default ->
                character >= 0x800
                        && (bytes[at] & 0xf0) == 0xe0
                        && (bytes[at + 1] & 0xc0) == 0x80
                        && (bytes[at + 2] & 0xc0) == 0x80;
        };
    }

    // --- classes ---

    /** Skips the description of an object's class. */
    private Description described() {
        return Objects.requireNonNullElseGet(descriptionOrNull(), () -> {
            throw malformed("holds an object without a class");
        });
    }

    private @Nullable Description descriptionOrNull() {
        final int tag = in.get();
        return switch (tag) {
            case NULL -> null;
            case REFERENCE -> {
                final Description known = descriptions.get(handle());
                if (known == null) {
                    throw malformed("refers to an object as a class");
                }
                yield known;
            }
            case CLASS_DESCRIPTION, PROXY_DESCRIPTION -> newDescription(tag);
            default -> throw malformed("holds the tag " + tag + " instead of a class at byte " + in.position());
        };
    }

    private Description newDescription(int tag) {
        if (++depth > MAX_DEPTH) {
            throw malformed("describes classes more than " + MAX_DEPTH + " deep");
        }
        final Description made = new Description();
        if (tag == PROXY_DESCRIPTION) {
            descriptions.put(newHandle(1), made);
            made.flags = SERIALIZABLE;
            for (int left = in.getInt(); left > 0; left--) {
                final String unused = name();
            }
        } else {
            made.name = name();
            skip(Long.BYTES);
            descriptions.put(newHandle(1), made);
            made.flags = in.get();
            fields(made);
        }
        annotation(Use.KEEPS);
        final Description parent = descriptionOrNull();
        made.parent = parent;
        made.classes = parent == null ? 1 : parent.classes + 1;
        if (made.classes > MAX_CLASSES) {
            throw malformed("describes a class with more than " + MAX_CLASSES + " superclasses");
        }
        made.use = useOf(made.name);
        made.structural = parent != null && parent.structural
                || STRUCTURAL_PACKAGES.stream().anyMatch(made.name::startsWith);
        depth--;
        return made;
    }

    private void fields(Description of) {
        for (int left = in.getShort() & 0xffff; left > 0; left--) {
            final int type = in.get();
            final String unused = name();
            if (type == 'L' || type == '[') {
                final long unusedType = object();
                of.objectFields++;
            } else {
                of.primitiveBytes += width(type);
            }
        }
    }

    private static int width(int type) {
        return switch (type) {
            case 'B', 'Z' -> Byte.BYTES;
            case 'C', 'S' -> Short.BYTES;
            case 'I', 'F' -> Integer.BYTES;
            case 'J', 'D' -> Long.BYTES;
            default -> throw malformed("has a field or an array of the type " + type);
        };
    }

    private static Use useOf(String name) {
        return switch (name) {
            case "java.util.HashSet", "java.util.PriorityQueue" -> Use.HASHES;
            case "java.util.HashMap", "java.util.Hashtable", "java.util.concurrent.ConcurrentHashMap" ->
                Use.HASHES_KEYS;
            case "java.util.concurrent.ConcurrentSkipListMap" ->
                Use.HASHES_KEYS; // compares each key with its predecessor, unlike a TreeMap
            case "java.util.CollSer" -> Use.BY_FIELD;
            default -> Use.KEEPS;
        };
    }

    // --- objects ---

    private long array() {
        final String name = described().name;
        final int handle = newHandle(ENDLESS);
        final int length = in.getInt();
        if (name.length() < 2 || length < 0) {
            throw malformed("holds an array of the class \"" + name + "\" with " + length + " elements");
        }
        long weight = 1;
        final char type = name.charAt(1);
        if (type == 'L' || type == '[') {
            for (int i = 0; i < length; i++) {
                weight = Math.min(ENDLESS, weight + object());
            }
        } else {
            final long bytes = (long) width(type) * length;
            skip(bytes);
            weight += bytes / BYTES_PER_STEP;
        }
        weights[handle] = weight;
        return weight;
    }

    private long ordinary() {
        final Description described = described();
        final int handle = newHandle(described.structural ? ENDLESS : 1);
        final long content = parts(described);
        if (described.structural) {
            weights[handle] = Math.min(ENDLESS, 1 + content);
        }
        return weights[handle];
    }

    /** Skips the parts of an object's classes, the topmost first; returns the weight of their content. */
    private long parts(Description of) {
        if ((of.flags & EXTERNALIZABLE) != 0) {
            if ((of.flags & BLOCK_DATA) == 0) {
                throw malformed("holds an externalizable object of an old version");
            }
            return annotation(Use.KEEPS);
        }
        final Description parent = of.parent;
        long weight = parent == null ? 0 : parts(parent);
        if ((of.flags & SERIALIZABLE) == 0) {
            return weight;
        }
        Use use = of.use;
        if (use == Use.BY_FIELD) {
            // Java serialization skips a field that the class lacks, so any field could be the decisive one.
            if (of.primitiveBytes != Integer.BYTES || of.objectFields != 0) {
                throw malformed("describes " + of.name + " with other fields than it has");
            }
            use = switch (in.getInt(in.position()) & 0xff) {
                case COLLECTION_SET -> Use.HASHES;
                case COLLECTION_MAP -> Use.HASHES_KEYS;
                default -> Use.KEEPS;
            };
        }
        skip(of.primitiveBytes);
        for (int i = 0; i < of.objectFields; i++) {
            weight = Math.min(ENDLESS, weight + object());
        }
        if ((of.flags & WRITE_METHOD) != 0) {
            requireLoadFactor(of);
            weight = Math.min(ENDLESS, weight + annotation(use));
        }
        return weight;
    }

    /** A set writes its capacity, load factor and size in one block. */
    private void requireLoadFactor(Description of) {
        if (!of.name.equals("java.util.HashSet")) {
            return;
        }
        final int at = in.position();
        if (in.remaining() < 2 + SET_BLOCK_LENGTH || in.get(at) != BLOCK || in.get(at + 1) != SET_BLOCK_LENGTH) {
            throw malformed("holds a set that does not begin with its capacity, load factor and size");
        }
        final float factor = in.getFloat(at + 2 + LOAD_FACTOR_OFFSET);
        if (!(factor >= LEAST_LOAD_FACTOR)) {
            throw malformed("holds a set with the load factor " + factor + ", which fills the heap");
        }
    }

    /** Skips the data that a class wrote itself, including its end; returns the weight of its objects. */
    private long annotation(Use use) {
        long weight = 0;
        long count = 0;
        while (true) {
            switch (in.get()) {
                case END_BLOCK -> {
                    return weight;
                }
                case BLOCK -> skip(in.get() & 0xff);
                case LONG_BLOCK -> skip(in.getInt());
                default -> {
                    in.position(in.position() - 1);
                    final long each = object();
                    weight = Math.min(ENDLESS, weight + each);
                    if (use == Use.HASHES || use == Use.HASHES_KEYS && count % 2 == 0) {
                        take(each);
                    }
                    count++;
                }
            }
        }
    }

    private void take(long weight) {
        steps += weight;
        if (steps > maxSteps) {
            throw malformed("takes more than " + maxSteps + " steps to hash: collections within the elements or keys of"
                    + " collections, the same ones again and again");
        }
    }
}
