package org.rowankv.jcache.codec;

import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An application's class as a key: its fields in a fixed order, and a way to make an object from them. Records by their
 * components; other classes by the fields that Java serialization would write, superclasses first, by name. Immutable
 * but for the outcome of its {@link KeyProbe}; thread-safe.
 */
final class ClassPlan {
    /** Held by the class itself, so that a class loader can be collected. */
    private static final ClassValue<ClassPlan> ALL = new ClassValue<>() {
        @Override
        protected ClassPlan computeValue(Class<?> type) {
            return new ClassPlan(type);
        }
    };

    /**
     * Hibernate and Micronaut keep hash codes in fields of their keys. They follow from the others, and may differ from JVM
     * to JVM.
     */
    private static final List<String> KEEP_HASHES = List.of("org.hibernate.", "io.micronaut.cache.interceptor.");

    private static final Set<String> HASHES = Set.of("hash", "hashCode");

    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final MethodType OF_ALL_FIELDS = MethodType.methodType(Object.class, Object[].class);
    private static final MethodType SETTING = MethodType.methodType(void.class, Object.class, Object.class);

    private final Class<?> type;
    private final List<Field> fields = new ArrayList<>();
    private final Part[] parts;
    private final List<Constructed> levels = new ArrayList<>();
    private final @Nullable Constructor<?> constructor;
    /** Of a record: calls its constructor with an array's elements. */
    private final @Nullable MethodHandle maker;

    private final @Nullable MethodHandle resolve;
    private final byte[] header;
    private volatile boolean probed;

    /** A field as reading needs it. @param boxed its type, or that of its objects @param setter null in a record */
    private record Part(
            Field field, Class<?> boxed, @Nullable MethodHandle setter) {}

    /** A class of the hierarchy with its fields, a range of all. @param readObject its own, or null */
    private record Constructed(
            Class<?> type, int from, int to, @Nullable MethodHandle readObject) {}

    static ClassPlan of(Class<?> type) {
        return ALL.get(type);
    }

    private ClassPlan(Class<?> type) {
        this.type = type;
        if (type.isRecord()) {
            constructor = canonicalConstructor();
            resolve = null;
        } else {
            constructor = serializableParts();
            resolve = SerializationHooks.readResolve(type);
        }
        fields.forEach(this::open);
        try {
            maker = type.isRecord() ? makerOf(constructor) : null;
            parts = new Part[fields.size()];
            for (int i = 0; i < parts.length; i++) {
                parts[i] = partOf(fields.get(i));
            }
        } catch (IllegalAccessException e) {
            throw new KeyClassException(type, "its fields or its constructor cannot be reached", e);
        }
        header = headerOf(type, fields);
    }

    /** Method handles, since a call of {@link Constructor} or {@link Field} checks its arguments each time. */
    private static MethodHandle makerOf(Constructor<?> canonical) throws IllegalAccessException {
        return LOOKUP.unreflectConstructor(canonical)
                .asSpreader(Object[].class, canonical.getParameterCount())
                .asType(OF_ALL_FIELDS);
    }

    private Part partOf(Field field) throws IllegalAccessException {
        return new Part(
                field,
                MethodType.methodType(field.getType()).wrap().returnType(),
                type.isRecord() ? null : LOOKUP.unreflectSetter(field).asType(SETTING));
    }

    /** Its name and those of its fields, as {@link NamedFieldsFormat} writes them. */
    private static byte[] headerOf(Class<?> type, List<Field> fields) {
        final ByteSink sink = new ByteSink(64);
        Codec.writeName(type.getName(), sink);
        fields.forEach(field -> Codec.writeName(field.getName(), sink));
        return sink.toBytes();
    }

    byte[] header() {
        return header;
    }

    /**
     * Whether the fields are all that Java serialization would write and read: no code of its own takes part, and no two
     * fields have one name.
     */
    boolean isPlain() {
        return resolve == null
                && levels.stream()
                        .allMatch(level -> level.readObject() == null
                                && !SerializationHooks.writesItself(level.type())
                                && !choosesItsFields(level.type()))
                && fields.stream().map(Field::getName).distinct().count() == fields.size();
    }

    private static boolean choosesItsFields(Class<?> type) {
        return Arrays.stream(type.getDeclaredFields())
                .anyMatch(field -> field.getName().equals("serialPersistentFields"));
    }

    private Constructor<?> canonicalConstructor() {
        final RecordComponent[] components = type.getRecordComponents();
        final Class<?>[] types = new Class<?>[components.length];
        try {
            for (int i = 0; i < components.length; i++) {
                types[i] = components[i].getType();
                fields.add(type.getDeclaredField(components[i].getName()));
            }
            final Constructor<?> canonical = type.getDeclaredConstructor(types);
            open(canonical);
            return canonical;
        } catch (NoSuchFieldException | NoSuchMethodException e) {
            throw new KeyClassException(type, "it lacks what every record has", e);
        }
    }

    private Constructor<?> serializableParts() {
        refuse(
                type.getClassLoader() == null || type.getName().startsWith("java."),
                "the JDK's class has no format here");
        refuse(!Serializable.class.isAssignableFrom(type), "it is neither a record nor Serializable");
        refuse(Externalizable.class.isAssignableFrom(type), "it writes itself (Externalizable)");
        refuse(type.isHidden() || type.isSynthetic(), "it is made at run time, as lambdas are");
        refuse(SerializationHooks.isReplaced(type), "it puts another object in its place (writeReplace)");
        final List<Class<?>> hierarchy = new ArrayList<>();
        for (Class<?> each = type; each != null && Serializable.class.isAssignableFrom(each); ) {
            hierarchy.add(0, each);
            each = each.getSuperclass();
        }
        for (Class<?> each : hierarchy) {
            refuse(
                    each != type && each.getClassLoader() == null && each.getDeclaredFields().length > 0,
                    "its superclass " + each.getName() + " has fields of the JDK");
            final int from = fields.size();
            Arrays.stream(each.getDeclaredFields())
                    .filter(ClassPlan::isPart)
                    .sorted(Comparator.comparing(Field::getName))
                    .forEach(fields::add);
            levels.add(new Constructed(each, from, fields.size(), SerializationHooks.readObject(each)));
        }
        final Constructor<?> made = SerializationHooks.constructor(type);
        if (made == null) {
            throw new KeyClassException(
                    type,
                    "its first superclass that is not Serializable has no constructor without"
                            + " parameters that it can call");
        }
        return made;
    }

    private static boolean isPart(Field field) {
        final boolean isHash = field.getType() == int.class
                && HASHES.contains(field.getName())
                && keepsHashes(field.getDeclaringClass());
        return !isHash && (field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0;
    }

    private static boolean keepsHashes(Class<?> type) {
        return KEEP_HASHES.stream().anyMatch(type.getName()::startsWith);
    }

    private void refuse(boolean condition, String why) {
        if (condition) {
            throw new KeyClassException(type, why);
        }
    }

    private void open(AccessibleObject member) {
        try {
            member.setAccessible(true);
        } catch (RuntimeException e) { // InaccessibleObjectException: its package is not open
            throw new KeyClassException(
                    type, "its package " + type.getPackageName() + " is not open to org.rowankv.jcache", e);
        }
    }

    List<Field> fields() {
        return fields;
    }

    /** Whether equality is known without a probe. */
    boolean isTrusted() {
        return keepsHashes(type);
    }

    /** Probes the class with this object unless one was found suitable before. */
    void requireSuitable(Object key, KeyProbe.Copier copier) {
        if (!probed) {
            if (!isTrusted()) {
                KeyProbe.check(this, key, copier);
            }
            probed = true;
        }
    }

    @Nullable
    Object get(int field, Object from) {
        try {
            return fields.get(field).get(from);
        } catch (IllegalAccessException e) {
            throw new KeyClassException(type, "its field " + fields.get(field).getName() + " cannot be read", e);
        }
    }

    /** The field as a part of a key: 0.0 for -0.0 where the class takes them for the same, as {@code ==} does. */
    @Nullable
    Object part(int field, Object from) {
        final Object value = get(field, from);
        final Object zero;
        if (Double.valueOf(-0.0).equals(value)) {
            zero = 0.0;
        } else if (Float.valueOf(-0.0f).equals(value)) {
            zero = 0.0f;
        } else {
            return value;
        }
        return KeyProbe.equalsCopyWith(this, from, field, zero) ? zero : value;
    }

    /** A new object with these fields; may put other arrays in the place of some. */
    Object make(@Nullable Object[] values) {
        for (int i = 0; i < values.length; i++) {
            if (!parts[i].boxed().isInstance(values[i])) {
                values[i] = fit(parts[i].field(), values[i]);
            }
        }
        try {
            if (maker != null) {
                return (Object) maker.invokeExact(values);
            }
            final Object made = constructor().newInstance();
            for (Constructed level : levels) {
                read(level, made, values);
            }
            return resolve == null ? made : resolve.invoke(made);
        } catch (ReflectiveOperationException e) {
            throw new MalformedBytesException("an object of " + type + " cannot be made from its stored fields", e);
        } catch (VirtualMachineError e) {
            throw e;
        } catch (Throwable e) { // of the class's own constructor, readObject or readResolve
            throw new MalformedBytesException("an object of " + type + " refuses its stored fields", e);
        }
    }

    private Constructor<?> constructor() {
        if (constructor == null) {
            throw new KeyClassException(type, "it cannot be constructed");
        }
        return constructor;
    }

    private void read(Constructed level, Object made, @Nullable Object[] values) throws Throwable {
        if (level.readObject() == null) {
            set(level, made, values);
        } else {
            try (ObjectInputStream in = new SerializationHooks.FieldsInput(() -> set(level, made, values))) {
                level.readObject().invoke(made, in);
            } catch (IOException e) {
                throw new KeyClassException(type, String.valueOf(e.getMessage()), e);
            }
        }
    }

    private void set(Constructed level, Object made, @Nullable Object[] values) {
        for (int i = level.from(); i < level.to(); i++) {
            final MethodHandle setter = parts[i].setter();
            if (setter == null) {
                throw new AssertionError("a record's fields are set by its constructor");
            }
            try {
                setter.invokeExact(made, values[i]);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new KeyClassException(type, "its field " + fields.get(i).getName() + " cannot be set", e);
            }
        }
    }

    /** The value as the field's type: stored arrays have lost theirs. */
    private @Nullable Object fit(Field field, @Nullable Object value) {
        final Class<?> wanted = field.getType();
        if (value == null) {
            if (wanted.isPrimitive()) {
                throw new MalformedBytesException("the field " + field.getName() + " of " + type + " cannot be null");
            }
            return null;
        }
        final Object fitting = arrayOf(wanted, value);
        if (!wanted.isPrimitive() && !wanted.isInstance(fitting)
                || wanted.isPrimitive()
                        && !Array.get(Array.newInstance(wanted, 1), 0)
                                .getClass()
                                .isInstance(fitting)) {
            throw new MalformedBytesException("the field " + field.getName() + " of " + type + " is a "
                    + wanted.getName() + ", and a " + value.getClass().getName() + " is stored");
        }
        return fitting;
    }

    /** An array of objects as an array of that type, where its elements allow it; anything else unchanged. */
    static Object arrayOf(Class<?> wanted, Object value) {
        if (!wanted.isArray() || wanted.isInstance(value) || !(value instanceof Object[] elements)) {
            return value;
        }
        final Class<?> elementType = wanted.getComponentType();
        if (elementType.isPrimitive()) {
            return value;
        }
        final Object made = Array.newInstance(elementType, elements.length);
        for (int i = 0; i < elements.length; i++) {
            final Object element = elements[i] == null ? null : arrayOf(elementType, elements[i]);
            if (element != null && !elementType.isInstance(element)) {
                return value;
            }
            Array.set(made, i, element);
        }
        return made;
    }
}
