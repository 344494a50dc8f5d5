package org.rowankv.micrometer;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.lang.ref.WeakReference;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import javax.cache.Cache;
import javax.cache.CacheManager;

/**
 * What the meters of a registry read. A registry keeps the first meter of a name with its tags, and a meter stays with the
 * object that it was made for: so the meters of a cache that is destroyed and made again would stand still for ever, and
 * those of caches with ever new names would pile up. Here the meters of a closed object give way to those of the next one,
 * and those of collected objects go. Those of an open object stay, as in Micrometer. Thread-safe.
 */
final class BoundMeters {
    private static final Map<MeterRegistry, BoundMeters> BY_REGISTRY = Collections.synchronizedMap(new WeakHashMap<>());

    private record Key(Class<?> binder, Tags tags) {}

    /** Neither the object nor the registry: it would never be collected. */
    private record Bound(WeakReference<?> of, List<Meter.Id> meters) {}

    private final WeakReference<MeterRegistry> registry;
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock. */
    private final Map<Key, Bound> bound = new HashMap<>();

    private BoundMeters(MeterRegistry registry) {
        this.registry = new WeakReference<>(registry);
    }

    static BoundMeters of(MeterRegistry registry) {
        return BY_REGISTRY.computeIfAbsent(registry, BoundMeters::new);
    }

    /**
     * Binds meters of a cache or a cache manager, unless those of another open one are bound.
     *
     * @param meters registers them; returns their ids
     */
    <T> void bind(Class<?> binder, Tags tags, T of, Function<? super T, List<Meter.Id>> meters) {
        final MeterRegistry here = registry.get();
        if (here == null) {
            return;
        }
        lock.lock();
        try {
            bind(here, new Key(binder, tags), of, meters);
        } finally {
            lock.unlock();
        }
    }

    private <T> void bind(MeterRegistry here, Key key, T of, Function<? super T, List<Meter.Id>> meters) {
        bound.entrySet().removeIf(each -> {
            final Object former = each.getValue().of().get();
            final boolean isOver =
                    former == null || each.getKey().equals(key) && isClosed(former) && !former.equals(of);
            if (isOver) {
                each.getValue().meters().forEach(here::remove);
            }
            return isOver;
        });
        if (!bound.containsKey(key)) {
            bound.put(key, new Bound(new WeakReference<>(of), List.copyOf(meters.apply(of))));
        }
    }

    private static boolean isClosed(Object former) {
        return former instanceof Cache<?, ?> cache
                ? cache.isClosed()
                : former instanceof CacheManager manager && manager.isClosed();
    }
}
