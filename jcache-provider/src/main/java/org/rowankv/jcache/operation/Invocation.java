package org.rowankv.jcache.operation;

import javax.cache.CacheException;
import javax.cache.processor.EntryProcessor;
import javax.cache.processor.EntryProcessorException;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.event.CallbackThreads;
import org.rowankv.jcache.expiry.ExpiryEvaluator;
import org.rowankv.jcache.integration.LoaderCalls;
import org.rowankv.jcache.integration.WriterCalls;
import org.rowankv.jcache.management.Statistics;
import org.rowankv.jcache.processor.Action;
import org.rowankv.jcache.processor.ProcessorEntry;
import org.rowankv.jcache.store.ProcessorRuns;
import org.rowankv.jcache.store.SpeculativeValues;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;

/** One {@code invoke} call for one key: its attempts, and the state kept between them. Used by one thread. */
final class Invocation<K, V, T> {
    private static final long NOT_EVALUATED = Long.MIN_VALUE;

    private final CacheBinding<K, V> binding;
    private final RequestBuffer buffer;
    private final K key;
    private final EntryProcessor<K, V, T> processor;
    private final @Nullable Object[] arguments;
    private boolean loaderCalled;
    private @Nullable V loaded;
    private long createMs = NOT_EVALUATED;
    private long updateMs = NOT_EVALUATED;

    private int attempts;

    // --- of the latest attempt ---
    private boolean isSpeculative;
    private @Nullable T result;
    private Action action = Action.NONE;
    private boolean existed;
    private boolean stored;
    private boolean removed;

    Invocation(
            CacheBinding<K, V> binding,
            RequestBuffer buffer,
            K key,
            EntryProcessor<K, V, T> processor,
            @Nullable Object... arguments) {
        this.binding = binding;
        this.buffer = buffer;
        this.key = key;
        this.processor = processor;
        this.arguments = arguments;
    }

    /** Runs the processor on the current value and commits its effect; false if another change was faster. */
    boolean attempt(byte[] keyBytes) {
        final SpeculativeValues speculativeValues = binding.sharedState().speculativeValues();
        final SpeculativeValues.Written speculative = maySpeculate() ? speculativeValues.find(keyBytes) : null;
        isSpeculative = speculative != null;
        if (speculative == null) {
            final Request read = buffer.get();
            binding.execute(read);
            existed = read.status() == Status.OK;
            return attempt(keyBytes, existed ? binding.valueOf(read) : null, read.version());
        }
        existed = true;
        if (attempt(keyBytes, binding.value(speculative.value()), speculative.version())) {
            return true;
        }
        speculativeValues.remove(speculative);
        return false;
    }

    /**
     * Speculates where a read costs a network round trip; not with a writer, which would see effects of a wrong value.
     */
    private boolean maySpeculate() {
        return attempts++ == 0 && binding.isRemote() && binding.writes() == null;
    }

    /** Whether that version of the object is current. */
    private boolean isPresent(long version) {
        final Request check = buffer.get().requestValue(false);
        binding.execute(check);
        return check.status() == Status.OK && check.version() == version;
    }

    private boolean attempt(byte[] keyBytes, @Nullable V value, long version) {
        // The processor gets its own copy of the key.
        final ProcessorEntry<K, V> entry =
                new ProcessorEntry<>(binding.key(keyBytes), value, this::load, binding.valueType());
        final ProcessorRuns.Run run = binding.sharedState().runs().begin(keyBytes);
        try {
            result = process(entry);
        } catch (CacheException e) {
            // A failure on an outdated value is irrelevant.
            if (isSpeculative && !isPresent(version)) {
                return false;
            }
            throw e;
        } finally {
            binding.sharedState().runs().end(run);
        }
        action = entry.action();
        final boolean proven = binding.sharedState().speculativeValues().isLast(keyBytes, version);
        if (commit(entry.value(), version)) {
            remember(keyBytes, proven);
            return true;
        }
        // On a speculative value this proves nothing: a run on the current value may not change its own key.
        if (run.changedOwnKey() && !isSpeculative) {
            throw new EntryProcessorException(
                    "the entry processor changes its own key through the cache, so its entry is never up to date");
        }
        return false;
    }

    private void remember(byte[] keyBytes, boolean proven) {
        if (binding.isRemote() && stored && (action == Action.UPDATED || action == Action.CREATED)) {
            binding.sharedState()
                    .speculativeValues()
                    .record(keyBytes, buffer.value(), buffer.request().version(), proven);
        }
    }

    private @Nullable T process(ProcessorEntry<K, V> entry) {
        final CallbackThreads callbacks = binding.sharedState().callbacks();
        callbacks.enter();
        try {
            return processor.process(entry, arguments);
        } catch (CacheException e) {
            throw e;
        } catch (Exception | StackOverflowError | AssertionError | LinkageError e) {
            throw new EntryProcessorException(e);
        } finally {
            callbacks.exit();
        }
    }

    private @Nullable V load(K loadedKey) {
        final LoaderCalls<K, V> loads = binding.loads();
        if (loads != null && !loaderCalled) {
            loaded = loads.load(loadedKey);
            loaderCalled = true;
        }
        if (loaded == null) {
            return null;
        }
        // Each run changes its own copy, never the loader's object.
        binding.encodeValue(loaded, buffer.value());
        return binding.valueOf(buffer);
    }

    private boolean commit(@Nullable V value, long version) {
        final ExpiryEvaluator expiry = binding.expiry();
        if (isSpeculative && action != Action.UPDATED && action != Action.DELETED && !isPresent(version)) {
            return false; // these two check the version themselves
        }
        switch (action) {
            case READ -> {
                final long accessMs = expiry.accessMs();
                if (accessMs != Ttl.UNCHANGED) {
                    binding.touch(buffer, version, accessMs);
                }
                return true;
            }
            case LOADED -> {
                createMs = createMs == NOT_EVALUATED ? expiry.createMs() : createMs;
                return write(loaded, version, createMs); // regardless of changes to the processor's copy
            }
            case CREATED -> {
                createMs = createMs == NOT_EVALUATED ? expiry.createMs() : createMs;
                return write(value, version, createMs);
            }
            case UPDATED -> {
                updateMs = updateMs == NOT_EVALUATED ? expiry.updateMs() : updateMs;
                return write(value, version, updateMs);
            }
            case DELETED -> {
                return remove(version);
            }
            default -> {
                return true;
            }
        }
    }

    private boolean write(@Nullable V value, long version, long ttlMs) {
        if (value == null) {
            throw new IllegalStateException("an entry that was written has a value");
        }
        try {
            binding.encodeValue(value, buffer.value());
        } catch (RuntimeException e) {
            if (isSpeculative && !isPresent(version)) {
                return false; // derived from an outdated value
            }
            throw e;
        }
        final WriterCalls<K, V> writes = binding.writes();
        if (writes != null && action != Action.LOADED) {
            writes.write(key, value);
        }
        final Condition condition = action == Action.UPDATED
                ? Condition.IF_VERSION
                : action == Action.LOADED ? Condition.IF_ABSENT_SINCE : Condition.IF_ABSENT;
        final Request request = buffer.put().when(condition, version).ttl(ttlMs, ttlMs);
        binding.execute(request);
        stored = action == Action.UPDATED || !request.has(ResultBits.BORN_EXPIRED);
        return request.status() == Status.OK;
    }

    private boolean remove(long version) {
        final WriterCalls<K, V> writes = binding.writes();
        if (writes != null) {
            writes.delete(key);
        }
        if (!existed) {
            removed = false;
            return true;
        }
        final Request request = buffer.delete().when(Condition.IF_VERSION, version);
        binding.execute(request);
        removed = request.status() == Status.OK;
        return removed;
    }

    /** Counts the attempt that took effect. */
    void count(long startNs) {
        final Statistics statistics = binding.statistics();
        statistics.got(existed, startNs);
        if ((action == Action.CREATED || action == Action.UPDATED) && stored) {
            statistics.put(startNs);
        } else if (action == Action.DELETED && removed) {
            statistics.removed(startNs);
        }
    }

    /** The result of the attempt that took effect. */
    @Nullable
    T result() {
        return result;
    }
}
