package org.rowankv.jcache.codec;

import java.nio.charset.StandardCharsets;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Canonical format of composite keys: equal keys have equal bytes, in every JVM. Lists, sets and maps count by content,
 * whatever their class; arrays by content too; records and Serializable classes by their fields ({@link ClassPlan}). A
 * part that occurs twice is written twice. Thread-safe.
 */
final class StructuralFormat {
    /** Levels of parts in parts. An object that contains itself has no end. */
    private static final int MAX_DEPTH = 64;

    private final Codec codec;
    private final LoaderReference loader;
    private final ClassRules rules;

    StructuralFormat(Codec codec, LoaderReference loader, ClassRules rules) {
        this.codec = codec;
        this.loader = loader;
        this.rules = rules;
    }

    void write(Object key, ByteSink out) {
        write(key, out, 0);
    }

    private void write(Object value, ByteSink out, int depth) {
        if (depth > MAX_DEPTH) {
            throw new KeyClassException(
                    value.getClass(), "it has more than " + MAX_DEPTH + " levels, or contains itself");
        }
        if (Codec.encodeValueType(value, out)) {
            return;
        }
        if (value instanceof List<?> list) {
            out.write(Tag.LIST);
            list.forEach(each -> element(each, out, depth));
        } else if (value instanceof Set<?> set) {
            out.write(Tag.SET);
            final List<byte[]> parts = new ArrayList<>(set.size());
            set.forEach(each -> parts.add(bytesOf(depth, each)));
            sorted(parts, out);
        } else if (value instanceof Map<?, ?> map && !(value instanceof IdentityHashMap)) {
            out.write(Tag.MAP);
            final List<byte[]> parts = new ArrayList<>(map.size());
            map.forEach((each, to) -> parts.add(bytesOf(depth, each, to)));
            sorted(parts, out);
        } else if (value instanceof Map.Entry<?, ?> entry) {
            out.write(Tag.MAP_ENTRY);
            element(entry.getKey(), out, depth);
            element(entry.getValue(), out, depth);
        } else if (value instanceof Optional<?> optional) {
            out.write(Tag.OPTIONAL);
            optional.ifPresent(each -> element(each, out, depth));
        } else if (value instanceof Object[] array) {
            out.write(Tag.ARRAY);
            Arrays.asList(array).forEach(each -> element(each, out, depth));
        } else if (value.getClass().isArray()) {
            out.write(Tag.PRIMITIVE_ARRAY);
            JdkFormat.writeArray(value, out);
        } else if (!JdkFormat.write(value, out)) {
            fields(value, out, depth);
        }
    }

    private byte[] bytesOf(int depth, @Nullable Object... elements) {
        final ByteSink part = new ByteSink(64);
        for (Object each : elements) {
            element(each, part, depth);
        }
        return part.toBytes();
    }

    private static void sorted(List<byte[]> parts, ByteSink out) {
        parts.sort(Arrays::compareUnsigned);
        parts.forEach(part -> out.write(part, 0, part.length));
    }

    private void element(@Nullable Object value, ByteSink out, int depth) {
        final int at = out.claim(Integer.BYTES);
        if (value == null) {
            out.write(Tag.NULL);
        } else {
            write(value, out, depth + 1);
        }
        out.setInt(at, out.length() - at - Integer.BYTES);
    }

    private void fields(Object value, ByteSink out, int depth) {
        final Class<?> type = value.getClass();
        final ClassPlan plan = ClassPlan.of(type);
        rules.checkWithJvmFilter(type);
        final int start = out.length();
        out.write(Tag.FIELDS);
        final byte[] name = type.getName().getBytes(StandardCharsets.UTF_8);
        out.writeShort(name.length);
        out.write(name, 0, name.length);
        for (int i = 0; i < plan.fields().size(); i++) {
            element(plan.part(i, value), out, depth);
        }
        plan.requireSuitable(value, original -> read(out.bytes(), start, out.length() - start, depth));
    }

    // --- reading ---

    /** Decodes what {@link #write} has written; {@code tag} is the first byte. */
    Object read(byte tag, ByteSource in) {
        return read(tag, in, 0);
    }

    private Object read(byte[] bytes, int offset, int length, int depth) {
        if (depth > MAX_DEPTH) {
            throw new MalformedBytesException("a stored key has more than " + MAX_DEPTH + " levels");
        }
        if (length > 0 && isStructural(bytes[offset])) {
            return read(bytes[offset], new ByteSource(bytes, offset + 1, length - 1), depth);
        }
        return codec.decodeValueType(bytes, offset, length);
    }

    static boolean isStructural(byte tag) {
        return tag >= Tag.LIST && tag <= Tag.JDK;
    }

    private Object read(byte tag, ByteSource in, int depth) {
        return switch (tag) {
            case Tag.LIST -> elements(in, depth);
            case Tag.SET -> new LinkedHashSet<>(elements(in, depth));
            case Tag.MAP -> map(elements(in, depth));
            case Tag.MAP_ENTRY -> {
                final List<@Nullable Object> parts = elements(in, depth);
                require(parts.size() == 2, "a map's entry");
                yield new AbstractMap.SimpleImmutableEntry<>(parts.get(0), parts.get(1));
            }
            case Tag.OPTIONAL -> {
                final List<@Nullable Object> parts = elements(in, depth);
                require(parts.size() <= 1, "an Optional");
                yield parts.isEmpty() ? Optional.empty() : Optional.ofNullable(parts.get(0));
            }
            case Tag.ARRAY -> elements(in, depth).toArray();
            case Tag.PRIMITIVE_ARRAY -> JdkFormat.readArray(in);
            case Tag.JDK -> JdkFormat.read(in, loader, rules);
            default -> object(in, depth);
        };
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new MalformedBytesException("a stored key has " + what + " with another number of parts");
        }
    }

    private List<@Nullable Object> elements(ByteSource in, int depth) {
        final List<@Nullable Object> elements = new ArrayList<>();
        while (in.remaining() > 0) {
            final int length = in.readInt();
            final int at = in.skip(length);
            final boolean isNull = length == 1 && in.bytes()[at] == Tag.NULL;
            elements.add(isNull ? null : read(in.bytes(), at, length, depth + 1));
        }
        return elements;
    }

    private static Map<@Nullable Object, @Nullable Object> map(List<@Nullable Object> parts) {
        require(parts.size() % 2 == 0, "a map");
        final Map<@Nullable Object, @Nullable Object> map = new LinkedHashMap<>();
        for (int i = 0; i < parts.size(); i += 2) {
            map.put(parts.get(i), parts.get(i + 1));
        }
        return map;
    }

    private Object object(ByteSource in, int depth) {
        final String name = new String(in.readBytes(in.readShort() & 0xffff), StandardCharsets.UTF_8);
        final Class<?> type = loader.load(name);
        rules.checkWithJvmFilter(type);
        final ClassPlan plan = ClassPlan.of(type);
        final List<@Nullable Object> values = elements(in, depth);
        if (values.size() != plan.fields().size()) {
            throw new MalformedBytesException("a stored key is a " + name + " with " + values.size()
                    + " fields; the class has " + plan.fields().size() + " now");
        }
        return plan.make(values.toArray());
    }
}
