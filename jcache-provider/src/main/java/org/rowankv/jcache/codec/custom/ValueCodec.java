package org.rowankv.jcache.codec.custom;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.Predicate;

/**
 * Codec of the values of caches whose template entry {@code codec} has its name. {@link java.util.ServiceLoader} finds
 * it in the class loader of the cache manager: its class is public, has a constructor without parameters, and is listed
 * in {@code META-INF/services/org.rowankv.jcache.codec.custom.ValueCodec}.
 *
 * <p>Strings, boxed types, byte arrays, enums and the types of {@code java.time} have bytes of their own in every cache
 * and are not passed to it. The cache stores the name: later openings need a codec of that name, which reads what this
 * one wrote. Each open cache has an instance of its own, for which loader and rules never change. Implementations are
 * thread-safe.
 */
public interface ValueCodec {
    /** Its name in templates: small letters, digits and hyphens, neither {@code record} nor {@code java}. */
    String name();

    /** Whether it writes objects of the class; others are written as with {@code codec=record}. */
    boolean takes(Class<?> type);

    /**
     * Writes a value. If it throws, nothing is stored, and the caller of the cache gets a {@code CacheException}.
     *
     * @param out valid during the call
     * @param loader of the cache manager: readers will have it
     * @param allowed whether the settings allow a class; the value's own is, others that are to be named in the bytes are
     *     asked for
     */
    void encode(Object value, OutputStream out, ClassLoader loader, Predicate<Class<?>> allowed) throws IOException;

    /**
     * Reads a value. If it throws, the caller of the cache gets a {@code CacheException}, and the entry stays.
     *
     * @param in all bytes of the value, of any origin if other clients write to the store
     * @param loader of the cache manager, for the classes of the value
     * @param allowed whether the settings allow a class; asked before a class that is named in the bytes is initialized. A
     *     class that is refused ends the reading with any exception: the caller gets the setting that would allow it
     * @return never null
     */
    Object decode(InputStream in, ClassLoader loader, Predicate<Class<?>> allowed)
            throws IOException, ClassNotFoundException;
}
