package org.rowankv.jcache.spi;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps objects exactly as long as a class loader. A manager refers to classes of its application, by the types, listeners
 * and policies of its caches. Referenced from anywhere else, it would keep the application's loader after the application
 * has ended; referenced weakly, it would be lost while the application runs and asks for it by its URI.
 *
 * <p>So the loader itself references it: through a class that the loader defines, the class of a proxy. Both are collected
 * together. Thread-safe.
 */
final class LoaderAnchor {
    private static final InvocationHandler NOTHING = (proxy, method, arguments) -> null;

    private static final ClassValue<Set<Object>> KEPT = new ClassValue<>() {
        @Override
        protected Set<Object> computeValue(Class<?> anchor) {
            return ConcurrentHashMap.newKeySet();
        }
    };

    private LoaderAnchor() {}

    static void keep(ClassLoader loader, Object kept) {
        keptBy(loader).add(kept);
    }

    static void release(ClassLoader loader, Object kept) {
        keptBy(loader).remove(kept);
    }

    private static Set<Object> keptBy(ClassLoader loader) {
        return KEPT.get(Proxy.newProxyInstance(loader, new Class<?>[] {Runnable.class}, NOTHING)
                .getClass());
    }
}
