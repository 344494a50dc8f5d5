package org.rowankv.spring;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import javax.cache.Cache;
import javax.cache.CacheManager;
import org.hibernate.cache.spi.RegionFactory;
import org.hibernate.cache.spi.access.SoftLock;
import org.jspecify.annotations.Nullable;

/**
 * A cache manager for Hibernate, whose regions fail no transaction that only reads while the servers are away:
 *
 * <ul>
 *   <li>A failing get is a miss, and Hibernate reads the database.
 *   <li>A failing put of an entry is dropped; so is one after a failing get of its key, since Hibernate decides by that get
 *       whether it may replace what is there. A put of a lock, and a removal, throw: they protect a change.
 *   <li>A failing get of a table's last change is a change just now: nothing would mean that cached queries are up to date.
 * </ul>
 *
 * Thread-safe.
 */
final class HibernateRegions {
    private final CacheFailures failures;

    HibernateRegions(CacheFailures failures) {
        this.failures = failures;
    }

    CacheManager of(CacheManager manager) {
        return (CacheManager) Proxy.newProxyInstance(
                HibernateRegions.class.getClassLoader(),
                new Class<?>[] {CacheManager.class},
                (proxy, method, arguments) -> {
                    final Object result = call(manager, method, arguments);
                    return result instanceof Cache<?, ?> cache ? of(cache) : result;
                });
    }

    private Cache<?, ?> of(Cache<?, ?> cache) {
        return (Cache<?, ?>) Proxy.newProxyInstance(
                HibernateRegions.class.getClassLoader(), new Class<?>[] {Cache.class}, new Region(cache));
    }

    private static @Nullable Object call(Object target, Method method, @Nullable Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }

    private final class Region implements InvocationHandler {
        private final Cache<?, ?> cache;
        private final boolean isOfTimestamps;
        /** By thread: the key whose get has failed, until that thread's next call that succeeds. */
        private final Map<Thread, Object> unread = Collections.synchronizedMap(new WeakHashMap<>());

        Region(Cache<?, ?> cache) {
            this.cache = cache;
            this.isOfTimestamps =
                    cache.getName().endsWith(RegionFactory.DEFAULT_UPDATE_TIMESTAMPS_REGION_UNQUALIFIED_NAME);
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, @Nullable Object[] arguments) throws Throwable {
            return switch (method.getName()) {
                case "get" -> get(method, arguments);
                case "put" -> put(method, arguments);
                default -> call(cache, method, arguments);
            };
        }

        private @Nullable Object get(Method method, @Nullable Object[] arguments) throws Throwable {
            try {
                final Object found = call(cache, method, arguments);
                forget();
                return found;
            } catch (RuntimeException e) {
                requireUnreachable(e);
                if (isOfTimestamps) {
                    failures.ignore(e, "get", cache.getName(), "cached queries are not used");
                    return Long.MAX_VALUE;
                }
                failures.ignore(e, "get", cache.getName(), "a miss");
                unread.put(Thread.currentThread(), arguments[0]);
                return null;
            }
        }

        private @Nullable Object put(Method method, @Nullable Object[] arguments) throws Throwable {
            final boolean protects = isOfTimestamps || arguments[1] instanceof SoftLock;
            final Object missed = unread.get(Thread.currentThread());
            // The key of a query throws where it is compared with null.
            if (!protects && missed != null && missed.equals(arguments[0])) {
                return null;
            }
            try {
                call(cache, method, arguments);
                forget();
            } catch (RuntimeException e) {
                requireUnreachable(e);
                if (protects) {
                    throw e;
                }
                failures.ignore(e, "put", cache.getName(), "not cached");
            }
            return null;
        }

        private void forget() {
            if (!unread.isEmpty()) {
                unread.remove(Thread.currentThread());
            }
        }

        private void requireUnreachable(RuntimeException failure) {
            if (!CacheFailures.isUnreachable(failure)) {
                throw failure;
            }
        }
    }
}
