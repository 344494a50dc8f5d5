package org.rowankv.jcache.codec;

import java.io.ObjectInputFilter;
import java.io.ObjectInputFilter.Status;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.rowankv.jcache.classes.AllowedClasses;
import org.rowankv.jcache.classes.ComponentTypes;
import org.rowankv.jcache.classes.DeniedClasses;
import org.rowankv.jcache.classes.FrameworkClasses;

/**
 * Which classes Java serialization may write and read. Writing uses the same rules as reading, so stored objects stay
 * readable.
 *
 * <ul>
 *   <li>Open, where no foreign bytes arrive: every class but {@link DeniedClasses}.
 *   <li>Closed: JDK value and collection classes, enums, {@link FrameworkClasses}, the declared types with their
 *       components, and the listed classes.
 * </ul>
 *
 * <p>The serial filter of the JVM is applied besides, when writing too. Immutable.
 */
public final class ClassRules {
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

    private final boolean open;
    private final ComponentTypes declared;
    private final AllowedClasses listed;

    /**
     * Closed rules.
     *
     * @param types the cache's configured types; {@code Object} and primitives add nothing
     * @param listed as in {@link AllowedClasses#of}
     */
    public ClassRules(List<Class<?>> types, String listed) {
        this(false, types, AllowedClasses.of(listed));
    }

    private ClassRules(boolean open, List<Class<?>> types, AllowedClasses listed) {
        this.open = open || listed.hasEveryClass();
        this.declared = new ComponentTypes(types);
        this.listed = listed;
    }

    /** Rules that list nothing and deny little. */
    public static ClassRules open() {
        return new ClassRules(true, List.of(), AllowedClasses.NONE);
    }

    /** Rules of the declared types and the listed classes. */
    public static ClassRules closed(List<Class<?>> types, AllowedClasses listed) {
        return new ClassRules(false, types, listed);
    }

    static Class<?> elementOf(Class<?> type) {
        Class<?> element = type;
        while (element.isArray()) {
            element = element.getComponentType();
        }
        return element;
    }

    /**
     * Throws if the class is not allowed.
     *
     * @throws ClassNotAllowedException with the setting that allows it
     */
    public void check(Class<?> type) {
        if (!allows(type)) {
            final Class<?> element = elementOf(type);
            throw new ClassNotAllowedException(
                    element.getName(), listed.lineWith(element, open), DeniedClasses.contains(element.getName()));
        }
    }

    /** As {@link #check}, outside of a stream; throws also if the JVM's filter refuses the class. */
    void checkWithJvmFilter(Class<?> type) {
        check(type);
        final ObjectInputFilter ofJvm = ObjectInputFilter.Config.getSerialFilter();
        if (ofJvm != null) {
            final Status unused = new JvmFilter(ofJvm).checkInput(new JvmFilter.OneClass(type));
        }
    }

    boolean allows(Class<?> type) {
        final Class<?> element = elementOf(type);
        if (element.isPrimitive() || Enum.class.isAssignableFrom(element)) {
            return true;
        }
        if (type.isArray() && Modifier.isAbstract(element.getModifiers())) {
            return true; // nothing is an instance of it, and each element is checked by its own class
        }
        if (Proxy.isProxyClass(element)) {
            return Arrays.stream(element.getInterfaces()).allMatch(this::allows);
        }
        final String name = element.getName();
        if (listed.hasExactly(name) || FrameworkClasses.contains(name)) {
            return true;
        }
        if (DeniedClasses.contains(name)) {
            return false;
        }
        return open || isValue(name) || declared.contains(element) || listed.contains(element);
    }

    private static boolean isValue(String name) {
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
        return false;
    }

    /**
     * Filter for the classes of one stream that has passed {@link SerializedScan}, with the JVM's filter, which a
     * stream's own filter would replace.
     *
     * @param streamLength in bytes. Collections allocate arrays of their announced sizes before they read an element:
     *     all arrays together have at most {@value #SLOTS_PER_BYTE} elements per byte
     */
    ObjectInputFilter filter(int streamLength) {
        final long maxSlots = FREE_SLOTS + (long) SLOTS_PER_BYTE * streamLength;
        final ObjectInputFilter own = new ObjectInputFilter() {
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
        final ObjectInputFilter ofJvm = ObjectInputFilter.Config.getSerialFilter();
        return ofJvm == null ? own : ObjectInputFilter.merge(new JvmFilter(ofJvm), own);
    }

    /** The serial filter of the JVM, with an exception that says so where it refuses a class. Thread-safe. */
    private record JvmFilter(ObjectInputFilter filter) implements ObjectInputFilter {
        /** A class outside of any stream. */
        private record OneClass(Class<?> serialClass) implements FilterInfo {
            @Override
            public long arrayLength() {
                return -1;
            }

            @Override
            public long depth() {
                return 1;
            }

            @Override
            public long references() {
                return 1;
            }

            @Override
            public long streamBytes() {
                return 0;
            }
        }

        @Override
        public Status checkInput(FilterInfo info) {
            final Status status = filter.checkInput(info);
            if (status == Status.REJECTED) {
                throw ClassNotAllowedException.ofJvm(info.serialClass());
            }
            return status;
        }
    }
}
