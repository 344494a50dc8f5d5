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
 * Runs entry processors in the calling thread: read, run on a private copy, carry out the net of it by compare-and-set on
 * the version that was read, and run again on the new value if another was faster. Where the store is far away, the first run on
 * a key may begin with what this JVM has written there last ({@link SpeculativeValues}); what comes of it counts only if that is
 * what the store has.
 *
 * <p>Guarantees: what one successful run did takes effect exactly once and atomically; a run that is thrown away or throws
 * has no effect on the cache; loader, writer, statistics, expiry and events belong to the run that took effect (a value
 * that was loaded is kept for the next run). Not guaranteed: that a processor runs only once, so its own side effects may
 * happen again. Thread-safe.
 */
public final class Invocations<K, V> {
    private final CacheBinding<K, V> opening;

    public Invocations(CacheBinding<K, V> opening) {
        this.opening = opening;
    }

    public <T> @Nullable T invoke(K key, EntryProcessor<K, V, T> processor, @Nullable Object... arguments) {
        final long startNs = opening.statistics().start();
        try (RequestBuffer scratch = opening.borrowFor(key)) {
            return invoke(new Invocation<>(opening, scratch, key, processor, arguments), scratch, startNs);
        }
    }

    private <T> @Nullable T invoke(Invocation<K, V, T> invocation, RequestBuffer scratch, long startNs) {
        final KeyedLocks gates = opening.rendezvous().gates();
        final byte[] key = scratch.key().toBytes();
        KeyedLocks.Gate gate =
                opening.writes() != null ? gates.enter(key) : gates.isBusy(key) ? gates.enterAsHint(key) : null;
        try {
            while (!invocation.attempt(key)) {
                if (gate == null) {
                    gate = gates.enterAsHint(key);
                }
            }
        } finally {
            gates.leave(gate);
        }
        invocation.count(startNs);
        return invocation.result();
    }

    public <T> Map<K, EntryProcessorResult<T>> invokeAll(
            Set<? extends K> keys, EntryProcessor<K, V, T> processor, @Nullable Object... arguments) {
        for (K key : keys) {
            opening.checkKey(key);
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
