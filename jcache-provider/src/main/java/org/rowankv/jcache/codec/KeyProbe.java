package org.rowankv.jcache.codec;

import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The test that a class's {@code equals} is that of its fields: a decoded copy equals the original and has its hash
 * code, and a copy with one other field does not equal it. Stateless.
 *
 * <p>Not guaranteed: a class whose equality depends on more than one object shows, such as strings without regard to
 * case where the probed object has no letters.
 */
final class KeyProbe {
    /** Encodes and decodes an object. */
    @FunctionalInterface
    interface Copier {
        Object copy(Object original);
    }

    private KeyProbe() {}

    /** Throws {@link KeyClassException} if the class is not suitable. */
    static void check(ClassPlan plan, Object key, Copier copier) {
        final Class<?> type = key.getClass();
        final Object copy = copier.copy(key);
        if (!key.equals(copy) || !copy.equals(key)) {
            throw new KeyClassException(
                    type,
                    hasOwnEquals(type)
                            ? "a copy with equal fields does not equal it; an array in it, for example, equals only itself"
                            : "it has no equals of its own, so a copy never equals it");
        }
        if (key.hashCode() != copy.hashCode()) {
            throw new KeyClassException(type, "a copy equals it, but has another hashCode");
        }
        final List<Field> fields = plan.fields();
        for (int i = 0; i < fields.size(); i++) {
            final Object present = plan.get(i, key);
            final Object other = otherThan(present, fields.get(i).getType());
            if (other == present) {
                continue; // no other value is known
            }
            if (equalsCopyWith(plan, key, i, other)) {
                throw new KeyClassException(
                        type,
                        "its equals does not depend on the field "
                                + fields.get(i).getName()
                                + ", so that equal keys may have different bytes; make the field transient if it follows from"
                                + " others");
            }
        }
    }

    /** Whether the key equals its copy with another value in one field. */
    static boolean equalsCopyWith(ClassPlan plan, Object key, int field, @Nullable Object other) {
        final @Nullable Object[] values = valuesOf(plan, key);
        values[field] = other;
        try {
            return key.equals(plan.make(values));
        } catch (RuntimeException e) {
            return false; // the class allows no such value, so there is no other key with it
        }
    }

    private static boolean hasOwnEquals(Class<?> type) {
        try {
            return type.getMethod("equals", Object.class).getDeclaringClass() != Object.class;
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    private static @Nullable Object[] valuesOf(ClassPlan plan, Object key) {
        final @Nullable Object[] values = new @Nullable Object[plan.fields().size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = plan.get(i, key);
        }
        return values;
    }

    /** Another value for a field; the same if none is known. Letters change their case: equals may ignore it. */
    private static @Nullable Object otherThan(@Nullable Object value, Class<?> type) {
        if (value == null) {
            return type == String.class || type == Object.class || type == CharSequence.class ? "x" : null;
        }
        if (value instanceof String text) {
            return swapCase(text);
        }
        if (value instanceof Enum<?> constant) {
            final Object[] constants = constant.getDeclaringClass().getEnumConstants();
            return constants.length == 1 ? null : constants[(constant.ordinal() + 1) % constants.length];
        }
        if (value instanceof UUID id) {
            return new UUID(id.getMostSignificantBits(), ~id.getLeastSignificantBits());
        }
        if (value instanceof BigInteger number) {
            return number.add(BigInteger.ONE);
        }
        if (value instanceof BigDecimal number) {
            return number.setScale(number.scale() + 1); // equal only by compareTo
        }
        final Object simple = otherNumber(value);
        return simple != null || type.isPrimitive() ? simple : null;
    }

    private static String swapCase(String text) {
        final StringBuilder swapped = new StringBuilder(text);
        for (int i = 0; i < swapped.length(); i++) {
            final char c = swapped.charAt(i);
            swapped.setCharAt(i, Character.isUpperCase(c) ? Character.toLowerCase(c) : Character.toUpperCase(c));
        }
        return swapped.toString().equals(text) ? text + 'x' : swapped.toString();
    }

    private static @Nullable Object otherNumber(Object value) {
        if (value instanceof Integer number) {
            return ~number;
        }
        if (value instanceof Long number) {
            return ~number;
        }
        if (value instanceof Boolean flag) {
            return !flag;
        }
        if (value instanceof Short number) {
            return (short) ~number;
        }
        if (value instanceof Byte number) {
            return (byte) ~number;
        }
        if (value instanceof Character c) {
            return (char) ~c;
        }
        if (value instanceof Double number) {
            return number == 0.0 || number.isNaN() ? 1.0 : -number;
        }
        return value instanceof Float number ? number == 0.0f || number.isNaN() ? 1.0f : -number : null;
    }
}
