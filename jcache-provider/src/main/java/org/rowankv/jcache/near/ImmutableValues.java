package org.rowankv.jcache.near;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Collection;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Which values nothing can change, so that several callers may have the same one: types of the JDK that are values,
 * enum constants, the results of {@code List.of}, {@code Set.of} and {@code Map.of}, and records, all of such parts.
 * The parts are examined, not their declared types. Stateless.
 */
final class ImmutableValues {
    /** What {@link #bytes} returns for a value that may change. */
    static final int MUTABLE = -1;

    private static final int MAX_DEPTH = 32;
    private static final int REFERENCE = 4;
    private static final int OBJECT = 16;
    private static final int STRING = 48;
    /** No entry may count more: the cache's bound is a long, the weight of an entry an int. */
    private static final int MOST = Integer.MAX_VALUE / 4;

    private static final String COLLECTIONS = "java.util.ImmutableCollections$";

    /** Values of the JDK with the bytes of heap of one. Exact classes: a subclass may change. */
    private static final Map<Class<?>, Integer> PLAIN = Map.ofEntries(
            Map.entry(Boolean.class, 0),
            Map.entry(Byte.class, 0),
            Map.entry(Short.class, OBJECT),
            Map.entry(Character.class, OBJECT),
            Map.entry(Integer.class, OBJECT),
            Map.entry(Float.class, OBJECT),
            Map.entry(Long.class, 24),
            Map.entry(Double.class, 24),
            Map.entry(UUID.class, 32),
            Map.entry(Instant.class, 24),
            Map.entry(LocalDate.class, 24),
            Map.entry(LocalTime.class, 24),
            Map.entry(LocalDateTime.class, 72),
            Map.entry(OffsetDateTime.class, 120),
            Map.entry(ZonedDateTime.class, 120),
            Map.entry(OffsetTime.class, 72),
            Map.entry(Duration.class, 24),
            Map.entry(Period.class, 24),
            Map.entry(Year.class, OBJECT),
            Map.entry(YearMonth.class, 24),
            Map.entry(MonthDay.class, 24),
            Map.entry(ZoneOffset.class, 0));

    private static final MethodHandle[] UNKNOWN = {};
    private static final MethodType GETTING = MethodType.methodType(Object.class, Object.class);

    /** The components of a record class; {@link #UNKNOWN} if they cannot be read. Held by the class itself. */
    private static final ClassValue<MethodHandle[]> COMPONENTS = new ClassValue<>() {
        @Override
        protected MethodHandle[] computeValue(Class<?> type) {
            final RecordComponent[] components = type.getRecordComponents();
            final MethodHandle[] getters = new MethodHandle[components.length];
            try {
                for (int i = 0; i < getters.length; i++) {
                    // The field, since an accessor may be the class's own.
                    final Field field = type.getDeclaredField(components[i].getName());
                    field.setAccessible(true);
                    getters[i] = MethodHandles.lookup().unreflectGetter(field).asType(GETTING);
                }
            } catch (ReflectiveOperationException | RuntimeException e) { // its package is not open to this module
                return UNKNOWN;
            }
            return getters;
        }
    };

    private ImmutableValues() {}

    /** About the bytes of heap of the value, or {@link #MUTABLE}. */
    static int bytes(Object value) {
        return bytes(value, 0);
    }

    private static int bytes(@Nullable Object value, int depth) {
        if (value == null || value instanceof Enum<?>) {
            return 0;
        }
        if (value instanceof String text) {
            return Math.min(MOST, STRING + text.length());
        }
        final Class<?> type = value.getClass();
        final Integer plain = PLAIN.get(type);
        if (plain != null) {
            return plain;
        }
        if (depth == MAX_DEPTH) {
            return MUTABLE;
        }
        if (value instanceof Record) {
            return ofRecord(value, depth);
        }
        if (type == BigInteger.class) {
            return 64 + ((BigInteger) value).bitLength() / 8;
        }
        if (type == BigDecimal.class) {
            return 104 + ((BigDecimal) value).precision() / 2;
        }
        return type.getName().startsWith(COLLECTIONS) ? ofCollection(value, depth) : MUTABLE;
    }

    private static int ofRecord(Object value, int depth) {
        final MethodHandle[] getters = COMPONENTS.get(value.getClass());
        if (getters == UNKNOWN) {
            return MUTABLE;
        }
        int sum = OBJECT;
        for (MethodHandle getter : getters) {
            final Object part;
            try {
                part = (Object) getter.invokeExact(value);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException("a component of " + value.getClass() + " cannot be read", e);
            }
            sum = sum(sum, bytes(part, depth + 1));
            if (sum == MUTABLE) {
                return MUTABLE;
            }
        }
        return sum;
    }

    private static int ofCollection(Object value, int depth) {
        int sum = 2 * OBJECT;
        if (value instanceof Collection<?> elements) {
            for (Object each : elements) {
                sum = sum(sum, bytes(each, depth + 1));
            }
            return sum;
        }
        if (value instanceof Map<?, ?> map) {
            for (Map.Entry<?, ?> each : map.entrySet()) {
                sum = sum(sum(sum, bytes(each.getKey(), depth + 1)), bytes(each.getValue(), depth + 1));
            }
            return sum;
        }
        return MUTABLE;
    }

    private static int sum(int before, int part) {
        return before == MUTABLE || part == MUTABLE ? MUTABLE : Math.min(MOST, before + 2 * REFERENCE + part);
    }
}
