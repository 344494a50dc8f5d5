package org.rowankv.jcache.operation;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import javax.cache.processor.EntryProcessor;
import javax.cache.processor.EntryProcessorException;
import javax.cache.processor.EntryProcessorResult;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.processor.ProcessorResult;
import org.rowankv.jcache.store.KeyedLocks;
import org.rowankv.jcache.store.SpeculativeValues;

/**
 * Executor of entry processors on the calling thread: reads, runs the processor on a private copy, commits its net
 * effect by compare-and-set on the version read, and retries on the new value if another change was faster. With a
 * remote store, the first run on a key may start from the value this JVM wrote last ({@link SpeculativeValues}); its
 * result counts only if the store still has that version.
 *
 * <p>Guarantees: the effect of one successful run is applied exactly once and atomically; a discarded or failing run
 * has no effect on the cache; loader, writer, statistics, expiry and events belong to the run that took effect (a
 * loaded value is kept for the next run). A processor may run several times, so its own side effects may repeat.
 * Thread-safe.
 */
public final class Invocations<K, V> {
    private final CacheBinding<K, V> binding;

    public Invocations(CacheBinding<K, V> binding) {
        this.binding = binding;
    }

    public <T> @Nullable T invoke(K key, EntryProcessor<K, V, T> processor, @Nullable Object... arguments) {
        final long startNs = binding.statistics().start();
        try (RequestBuffer buffer = binding.acquireFor(key)) {
            return invoke(new Invocation<>(binding, buffer, key, processor, arguments), buffer, startNs);
        }
    }

    private <T> @Nullable T invoke(Invocation<K, V, T> invocation, RequestBuffer buffer, long startNs) {
        final KeyedLocks locks = binding.sharedState().locks();
        final byte[] key = buffer.key().toBytes();
        KeyedLocks.KeyLock lock =
                binding.writes() != null ? locks.lock(key) : locks.isBusy(key) ? locks.lockAsHint(key) : null;
        try {
            while (!invocation.attempt(key)) {
                if (lock == null) {
                    lock = locks.lockAsHint(key);
                }
            }
        } finally {
            locks.unlock(lock);
        }
        invocation.count(startNs);
        return invocation.result();
    }

    public <T> Map<K, EntryProcessorResult<T>> invokeAll(
            Set<? extends K> keys, EntryProcessor<K, V, T> processor, @Nullable Object... arguments) {
        for (K key : keys) {
            binding.checkKey(key);
        }
        final Map<K, EntryProcessorResult<T>> results = new HashMap<>();
        for (K key : keys) {
            try {
                final T result = invoke(key, processor, arguments);
                if (result != null) {
                    results.put(key, ProcessorResult.of(result));
                }
            } catch (EntryProcessorException e) {
                results.put(key, ProcessorResult.failed(e));
            } catch (RuntimeException e) {
                results.put(key, ProcessorResult.failed(new EntryProcessorException(e)));
            }
        }
        return results;
    }
}
