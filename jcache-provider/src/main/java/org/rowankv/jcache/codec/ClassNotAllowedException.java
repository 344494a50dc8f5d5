package org.rowankv.jcache.codec;

import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;

/** An object contains a class that the rules refuse; it is neither written nor read. */
public final class ClassNotAllowedException extends CacheException {
    private static final long serialVersionUID = 1L;

    private final String className;

    private ClassNotAllowedException(String className, String message) {
        super(message);
        this.className = className;
    }

    /**
     * @param line the setting that would allow the class
     * @param denied whether the class is known from attacks
     */
    ClassNotAllowedException(String className, String line, boolean denied) {
        this(
                className,
                "the class " + className + " may not be serialized into or out of the cache: "
                        + (denied
                                ? "it is known from attacks on Java serialization; if it is needed anyway, set "
                                : "name it with setTypes, or set ")
                        + line);
    }

    /**
     * For a class that a filter of the JVM refuses.
     *
     * @param refused null if the filter does not say
     */
    static ClassNotAllowedException ofJvm(@Nullable Class<?> refused) {
        return new ClassNotAllowedException(
                refused == null ? "" : refused.getName(),
                "the serial filter of this JVM (jdk.serialFilter, or a filter factory) refuses "
                        + (refused == null ? "an object" : refused) + " of the cache; change that filter to allow it");
    }

    /** The refused class; empty if a filter of the JVM refuses an object for another reason. */
    public String className() {
        return className;
    }
}
