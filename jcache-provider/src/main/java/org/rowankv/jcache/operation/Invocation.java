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

/** One call of {@code invoke} for one key: its attempts, and what outlives an attempt. Used by one thread. */
final class Invocation<K, V, T> {
    private static final long NOT_ASKED = Long.MIN_VALUE;

    private final CacheBinding<K, V> opening;
    private final RequestBuffer scratch;
    private final K key;
    private final EntryProcessor<K, V, T> processor;
    private final @Nullable Object[] arguments;
    private boolean loaderCalled;
    private @Nullable V loaded;
    private long createMs = NOT_ASKED;
    private long updateMs = NOT_ASKED;

    private int attempts;

    // Of the latest attempt.
    private boolean guessed;
    private @Nullable T result;
    private Action action = Action.NONE;
    private boolean existed;
    private boolean stored;
    private boolean removed;

    Invocation(
            CacheBinding<K, V> opening,
            RequestBuffer scratch,
            K key,
            EntryProcessor<K, V, T> processor,
            @Nullable Object... arguments) {
        this.opening = opening;
        this.scratch = scratch;
        this.key = key;
        this.processor = processor;
        this.arguments = arguments;
    }

    /** Runs the processor on the present value and carries out what it did; false when another was faster. */
    boolean attempt(byte[] keyBytes) {
        final SpeculativeValues recent = opening.rendezvous().recent();
        final SpeculativeValues.Written guess = mayGuess() ? recent.guess(keyBytes) : null;
        guessed = guess != null;
        if (guess == null) {
            final Request read = scratch.get();
            opening.execute(read);
            existed = read.status() == Status.OK;
            return attempt(keyBytes, existed ? opening.valueOf(read) : null, read.version());
        }
        existed = true;
        if (attempt(keyBytes, opening.value(guess.value()), guess.version())) {
            return true;
        }
        recent.forget(guess);
        return false;
    }

    /** Where a read costs a way to a server and back. A writer would be told of what comes of a wrong guess. */
    private boolean mayGuess() {
        return attempts++ == 0 && opening.isRemote() && opening.writes() == null;
    }

    /** Whether that version of the object is the one in the store. */
    private boolean isPresent(long version) {
        final Request look = scratch.get().requestValue(false);
        opening.execute(look);
        return look.status() == Status.OK && look.version() == version;
    }

    private boolean attempt(byte[] keyBytes, @Nullable V value, long version) {
        // The processor gets a key of its own too: by value.
        final ProcessorEntry<K, V> entry =
                new ProcessorEntry<>(opening.key(keyBytes), value, this::load, opening.valueType());
        final ProcessorRuns.Run run = opening.rendezvous().runs().begin(keyBytes);
        try {
            result = process(entry);
        } catch (CacheException e) {
            // Whatever it has to say of a value that is there no more is of no interest.
            if (guessed && !isPresent(version)) {
                return false;
            }
            throw e;
        } finally {
            opening.rendezvous().runs().end(run);
        }
        action = entry.action();
        final boolean proven = opening.rendezvous().recent().isLast(keyBytes, version);
        if (commit(entry.value(), version)) {
            remember(keyBytes, proven);
            return true;
        }
        // After a guess it is no proof: run on what is there, it may do without the entry.
        if (run.disturbedItself() && !guessed) {
            throw new EntryProcessorException(
                    "the entry processor changes its own key through the cache, so its entry is never up to date");
        }
        return false;
    }

    private void remember(byte[] keyBytes, boolean proven) {
        if (opening.isRemote() && stored && (action == Action.UPDATED || action == Action.CREATED)) {
            opening.rendezvous()
                    .recent()
                    .wrote(keyBytes, scratch.value(), scratch.request().version(), proven);
        }
    }

    private @Nullable T process(ProcessorEntry<K, V> entry) {
        final CallbackThreads callbacks = opening.rendezvous().callbacks();
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
        final LoaderCalls<K, V> loads = opening.loads();
        if (loads != null && !loaderCalled) {
            loaded = loads.load(loadedKey);
            loaderCalled = true;
        }
        if (loaded == null) {
            return null;
        }
        // Each run changes a copy of its own, and none the loader's object.
        opening.encodeValue(loaded, scratch.value());
        return opening.valueOf(scratch);
    }

    private boolean commit(@Nullable V value, long version) {
        final ExpiryEvaluator lifetimes = opening.lifetimes();
        if (guessed && action != Action.UPDATED && action != Action.DELETED && !isPresent(version)) {
            return false; // those two look by themselves
        }
        switch (action) {
            case READ -> {
                final long accessMs = lifetimes.accessMs();
                if (accessMs != Ttl.UNCHANGED) {
                    opening.touch(scratch, version, accessMs);
                }
                return true;
            }
            case LOADED -> {
                createMs = createMs == NOT_ASKED ? lifetimes.createMs() : createMs;
                return write(loaded, version, createMs); // whatever the processor did to its copy
            }
            case CREATED -> {
                createMs = createMs == NOT_ASKED ? lifetimes.createMs() : createMs;
                return write(value, version, createMs);
            }
            case UPDATED -> {
                updateMs = updateMs == NOT_ASKED ? lifetimes.updateMs() : updateMs;
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
            opening.encodeValue(value, scratch.value());
        } catch (RuntimeException e) {
            if (guessed && !isPresent(version)) {
                return false; // made of a value that is there no more
            }
            throw e;
        }
        final WriterCalls<K, V> writes = opening.writes();
        if (writes != null && action != Action.LOADED) {
            writes.write(key, value);
        }
        final Condition condition = action == Action.UPDATED
                ? Condition.IF_VERSION
                : action == Action.LOADED ? Condition.IF_ABSENT_SINCE : Condition.IF_ABSENT;
        final Request request = scratch.put().when(condition, version).ttl(ttlMs, ttlMs);
        opening.execute(request);
        stored = action == Action.UPDATED || !request.has(ResultBits.BORN_EXPIRED);
        return request.status() == Status.OK;
    }

    private boolean remove(long version) {
        final WriterCalls<K, V> writes = opening.writes();
        if (writes != null) {
            writes.delete(key);
        }
        if (!existed) {
            removed = false;
            return true;
        }
        final Request request = scratch.delete().when(Condition.IF_VERSION, version);
        opening.execute(request);
        removed = request.status() == Status.OK;
        return removed;
    }

    /** Counts the attempt that took effect. */
    void count(long startNs) {
        final Statistics statistics = opening.statistics();
        statistics.got(existed, startNs);
        if ((action == Action.CREATED || action == Action.UPDATED) && stored) {
            statistics.put(startNs);
        } else if (action == Action.DELETED && removed) {
            statistics.removed(startNs);
        }
    }

    /** What the processor returned in the attempt that took effect. */
    @Nullable
    T result() {
        return result;
    }
}
