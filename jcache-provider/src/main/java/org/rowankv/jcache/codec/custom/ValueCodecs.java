package org.rowankv.jcache.codec.custom;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;

/** The names of codecs of values, the codecs that a class loader has, and what they leave to others. Stateless. */
public final class ValueCodecs {
    /** By the names of fields; the codec of caches without a template. */
    public static final String RECORD = "record";
    /** Java serialization. */
    public static final String JAVA = "java";

    private static final ClassValue<Boolean> REPLACED = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            for (Class<?> level = type; level != null; level = level.getSuperclass()) {
                for (Method method : level.getDeclaredMethods()) {
                    if (method.getParameterCount() == 0
                            && (method.getName().equals("readResolve")
                                    || method.getName().equals("writeReplace"))
                            && (level == type || !Modifier.isPrivate(method.getModifiers()))) {
                        return true;
                    }
                }
            }
            return false;
        }
    };

    private ValueCodecs() {}

    /**
     * Whether Java serialization puts another object in the place of one of the class, by {@code writeReplace} or
     * {@code readResolve}, as for singletons. A codec that copies fields should not {@linkplain ValueCodec#takes take} these.
     */
    public static boolean isReplaced(Class<?> type) {
        return REPLACED.get(type);
    }

    /** Whether a codec of that name is a part of this library: both read what the other has written. */
    public static boolean isOwn(String name) {
        return RECORD.equals(name) || JAVA.equals(name);
    }

    /** A new codec of that name; null if the class loader has none. */
    public static @Nullable ValueCodec find(String name, ClassLoader loader) {
        final List<ValueCodec> found =
                all(loader).stream().filter(codec -> name.equals(codec.name())).toList();
        if (found.size() > 1) {
            throw new CacheException("two codecs are called " + name + ": "
                    + found.get(0).getClass() + " and " + found.get(1).getClass() + "; remove one from the class path");
        }
        return found.isEmpty() ? null : found.get(0);
    }

    /** All names that templates may have, for messages. */
    public static Collection<String> names(ClassLoader loader) {
        final TreeMap<String, String> names = new TreeMap<>();
        names.put(JAVA, "");
        names.put(RECORD, "");
        all(loader).forEach(codec -> names.put(String.valueOf(codec.name()), ""));
        return names.keySet();
    }

    private static List<ValueCodec> all(ClassLoader loader) {
        try {
            return ServiceLoader.load(ValueCodec.class, loader).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();
        } catch (ServiceConfigurationError | LinkageError e) {
            throw new CacheException("the codecs of values cannot be loaded: " + e.getMessage(), e);
        }
    }
}
