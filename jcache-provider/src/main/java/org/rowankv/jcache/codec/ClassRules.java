package org.rowankv.jcache.codec;

import java.io.ObjectInputFilter;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Allow-list of the classes that Java serialization may write and read: JDK value and collection classes, enums, the
 * configured types with their subtypes, and the user's patterns. Writing uses the same rules as reading, so stored
 * objects stay readable.
 *
 * <p>A pattern is a class name, {@code package.*}, or {@code package.**} with its subpackages. Immutable.
 */
public final class ClassRules {
    /** The setting with the patterns. */
    public static final String SETTING = "rowan.allowed-classes";

    /** The table of a hash map has up to 8 slots per element of at least 6 bytes. */
    private static final int SLOTS_PER_BYTE = 4;

    private static final int FREE_SLOTS = 1_024;

    /** Packages whose serializable classes are all plain values. */
    private static final Set<String> VALUE_PACKAGES = Set.of("java.time", "java.time.chrono", "java.math");

    private static final Set<String> VALUE_CLASSES = Set.of(
            // A stream contains these in place of an object that failed to be written.
            "java.io.IOException",
            "java.io.NotSerializableException",
            "java.io.ObjectStreamException",
            "java.lang.Boolean",
            "java.lang.Byte",
            "java.lang.Character",
            "java.lang.Double",
            "java.lang.Enum",
            "java.lang.Float",
            "java.lang.Integer",
            "java.lang.Long",
            "java.lang.Number",
            "java.lang.Object",
            "java.lang.Short",
            "java.lang.String",
            "java.lang.StringBuffer",
            "java.lang.StringBuilder",
            "java.lang.Record",
            "java.lang.StackTraceElement",
            "java.lang.Throwable",
            "java.lang.Exception",
            "java.lang.RuntimeException",
            "java.time.Ser",
            "java.net.URI",
            "java.net.InetAddress",
            "java.net.Inet4Address",
            "java.net.Inet6Address",
            "java.net.InetSocketAddress",
            "java.net.SocketAddress",
            "java.nio.ByteOrder",
            "java.sql.Date",
            "java.sql.Time",
            "java.sql.Timestamp",
            "java.util.AbstractCollection",
            "java.util.AbstractList",
            "java.util.AbstractMap",
            "java.util.AbstractMap$SimpleEntry",
            "java.util.AbstractMap$SimpleImmutableEntry",
            "java.util.AbstractSet",
            "java.util.ArrayDeque",
            "java.util.ArrayList",
            "java.util.BitSet",
            "java.util.CollSer",
            "java.util.Currency",
            "java.util.Date",
            "java.util.EnumMap",
            "java.util.EnumSet",
            "java.util.EnumSet$SerializationProxy",
            "java.util.HashMap",
            "java.util.HashSet",
            "java.util.Hashtable",
            "java.util.IdentityHashMap",
            "java.util.LinkedHashMap",
            "java.util.LinkedHashSet",
            "java.util.LinkedList",
            "java.util.Locale",
            "java.util.Map",
            "java.util.Map$Entry",
            "java.util.PriorityQueue",
            "java.util.Properties",
            "java.util.RegularEnumSet",
            "java.util.SimpleTimeZone",
            "java.util.Stack",
            "java.util.TimeZone",
            "java.util.TreeMap",
            "java.util.TreeSet",
            "java.util.UUID",
            "java.util.Vector",
            "java.util.concurrent.ConcurrentHashMap",
            "java.util.concurrent.ConcurrentHashMap$Segment",
            "java.util.concurrent.ConcurrentLinkedDeque",
            "java.util.concurrent.ConcurrentLinkedQueue",
            "java.util.concurrent.ConcurrentSkipListMap",
            "java.util.concurrent.ConcurrentSkipListSet",
            "java.util.concurrent.CopyOnWriteArrayList",
            "java.util.concurrent.CopyOnWriteArraySet",
            "java.util.concurrent.atomic.AtomicBoolean",
            "java.util.concurrent.atomic.AtomicInteger",
            "java.util.concurrent.atomic.AtomicLong",
            "java.util.concurrent.locks.AbstractOwnableSynchronizer",
            "java.util.concurrent.locks.AbstractQueuedSynchronizer",
            "java.util.concurrent.locks.ReentrantLock",
            "java.util.concurrent.locks.ReentrantLock$NonfairSync",
            "java.util.concurrent.locks.ReentrantLock$Sync",
            "sun.util.calendar.ZoneInfo");

    /** Views such as {@code Collections.unmodifiableList} and {@code Arrays.asList}. */
    private static final List<String> VALUE_PREFIXES =
            List.of("java.util.Collections$", "java.util.Arrays$ArrayList", "java.util.ImmutableCollections$");

    private final List<Class<?>> types;
    private final List<String> patterns;

    /**
     * @param types the cache's configured types; {@code Object} and primitives add nothing
     * @param patterns separated by ';' or ','
     */
    public ClassRules(List<Class<?>> types, String patterns) {
        final List<Class<?>> useful = new ArrayList<>();
        for (Class<?> type : types) {
            final Class<?> element = elementOf(type);
            if (!element.isPrimitive() && element != Object.class && element.getClassLoader() != null) {
                useful.add(element);
            }
        }
        this.types = List.copyOf(useful);
        final List<String> parts = new ArrayList<>();
        for (String part : patterns.split("[;,]", -1)) {
            if (!part.isBlank()) {
                parts.add(part.trim());
            }
        }
        this.patterns = List.copyOf(parts);
    }

    private static Class<?> elementOf(Class<?> type) {
        Class<?> element = type;
        while (element.isArray()) {
            element = element.getComponentType();
        }
        return element;
    }

    /** Throws if the class is not allowed. */
    void check(Class<?> type) {
        if (!allows(type)) {
            throw new ClassNotAllowedException(elementOf(type).getName());
        }
    }

    private boolean allowsName(String name) {
        if (VALUE_CLASSES.contains(name)) {
            return true;
        }
        final int dot = name.lastIndexOf('.');
        if (dot > 0 && VALUE_PACKAGES.contains(name.substring(0, dot))) {
            return true;
        }
        for (String prefix : VALUE_PREFIXES) {
            if (name.startsWith(prefix)) {
                return true;
            }
        }
        for (String pattern : patterns) {
            if (matches(pattern, name)) {
                return true;
            }
        }
        return false;
    }

    private static boolean matches(String pattern, String name) {
        if (pattern.endsWith(".**")) {
            return name.startsWith(pattern.substring(0, pattern.length() - 2));
        }
        if (pattern.endsWith(".*")) {
            final int length = pattern.length() - 1;
            return name.startsWith(pattern.substring(0, length)) && name.indexOf('.', length) < 0;
        }
        return pattern.equals(name) || "**".equals(pattern);
    }

    boolean allows(Class<?> type) {
        final Class<?> element = elementOf(type);
        if (element.isPrimitive() || Enum.class.isAssignableFrom(element)) {
            return true;
        }
        if (Proxy.isProxyClass(element)) {
            return Arrays.stream(element.getInterfaces()).allMatch(this::allows);
        }
        for (Class<?> allowed : types) {
            if (allowed.isAssignableFrom(element) || isSuperclassOf(element, allowed)) {
                return true;
            }
        }
        return allowsName(element.getName());
    }

    /** A configured class includes the fields of its superclasses. */
    private static boolean isSuperclassOf(Class<?> candidate, Class<?> type) {
        return !candidate.isInterface() && candidate.isAssignableFrom(type);
    }

    /**
     * Filter for the classes of one stream that has passed {@link SerializedScan}.
     *
     * @param streamLength in bytes. Collections allocate arrays of their announced sizes before they read an element:
     *     all arrays together have at most {@value #SLOTS_PER_BYTE} elements per byte
     */
    ObjectInputFilter filter(int streamLength) {
        final long maxSlots = FREE_SLOTS + (long) SLOTS_PER_BYTE * streamLength;
        return new ObjectInputFilter() {
            private long slots;

            @Override
            public Status checkInput(FilterInfo info) {
                slots += Math.max(0, info.arrayLength());
                if (slots > maxSlots) {
                    throw new MalformedBytesException("a serialized object of " + streamLength
                            + " bytes cannot be read: its arrays and tables would have more than " + maxSlots
                            + " elements");
                }
                final Class<?> type = info.serialClass();
                if (type == null) {
                    return Status.UNDECIDED;
                }
                check(type);
                return Status.ALLOWED;
            }
        };
    }
}
