package org.rowankv.jcache.codec;

import java.lang.ref.WeakReference;
import javax.cache.CacheException;

/**
 * Weak reference to a cache manager's class loader: a cache never keeps an application's classes alive. Thread-safe.
 */
public final class LoaderReference {
    private final WeakReference<ClassLoader> loader;
    private final String description;

    public LoaderReference(ClassLoader loader) {
        this.loader = new WeakReference<>(loader);
        this.description = loader.getClass().getName() + '@' + Integer.toHexString(System.identityHashCode(loader));
    }

    /** The loader; throws if it was collected, which is possible only before the manager is closed. */
    public ClassLoader get() {
        final ClassLoader present = loader.get();
        if (present == null) {
            throw new CacheException("the class loader " + description
                    + " of this cache manager is gone; close the manager before its application");
        }
        return present;
    }

    /** Loads without initializing. */
    Class<?> load(String className) {
        try {
            return Class.forName(className, false, get());
        } catch (ClassNotFoundException | LinkageError e) {
            throw missing(className, e);
        }
    }

    CacheException missing(String className, Throwable cause) {
        return new CacheException(
                "the class " + className + " of a stored object cannot be loaded by the class loader " + description
                        + " of the cache manager; the entry stays as it is",
                cause);
    }
}
