package org.rowankv.jcache.operation;

import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.expiry.ExpiryEvaluator;
import org.rowankv.jcache.integration.WriterCalls;
import org.rowankv.jcache.store.KeyedLocks;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;

/**
 * A change that depends on the present entry, for a policy, a writer or a comparison of values: read, decide,
 * compare-and-set by version; retried if another change was faster.
 *
 * <p>Calls writer and each policy method at most once, despite retries. Compares values with {@code equals}, not by
 * bytes. Used by one thread, for one operation.
 */
final class ConditionalChange<K, V> {
    private static final long NOT_EVALUATED = Long.MIN_VALUE;

    private final CacheBinding<K, V> binding;
    private final ExpiryEvaluator expiry;
    private final RequestBuffer buffer;
    private final MutationKind change;
    private final K key;
    private long createMs = NOT_EVALUATED;
    private long updateMs = NOT_EVALUATED;
    private boolean writerCalled;

    // --- the outcome ---
    private boolean existed;
    private @Nullable V oldValue;

    /**
     * @param buffer contains the key, and the value to write if there is one
     * @param writerCalled whether the writer has been called already
     */
    ConditionalChange(
            CacheBinding<K, V> binding, RequestBuffer buffer, MutationKind change, K key, boolean writerCalled) {
        this.binding = binding;
        this.expiry = binding.expiry();
        this.buffer = buffer;
        this.change = change;
        this.key = key;
        this.writerCalled = writerCalled;
    }

    /** Whether an entry existed when the operation took effect, or was found to have none. */
    boolean existed() {
        return existed;
    }

    /** The old value, if requested. */
    @Nullable
    V oldValue() {
        return oldValue;
    }

    /**
     * Executes the change.
     *
     * @param expected value to compare with, for changes that compare
     * @param value value to write, for changes that write
     * @return whether it took effect; if so, the buffer's request wrote or removed
     */
    boolean run(@Nullable V expected, @Nullable V value, boolean needsOldValue) {
        if (binding.writes() == null || writerCalled) {
            return changeUntilDecided(expected, value, needsOldValue);
        }
        final KeyedLocks locks = binding.sharedState().locks();
        final KeyedLocks.KeyLock lock = locks.lock(buffer.key().toBytes());
        try {
            return changeUntilDecided(expected, value, needsOldValue);
        } finally {
            locks.unlock(lock);
        }
    }

    private boolean changeUntilDecided(@Nullable V expected, @Nullable V value, boolean needsOldValue) {
        final boolean needsValue = needsOldValue || change.comparesValues();
        for (; ; ) {
            final Request read = buffer.get().requestValue(needsValue);
            binding.execute(read);
            final long version = read.version();
            existed = read.status() == Status.OK;
            oldValue = existed && needsValue ? binding.valueOf(read) : null;
            final boolean equal = expected != null && expected.equals(oldValue);
            switch (change.decide(existed, equal)) {
                case LEAVE -> {
                    return false;
                }
                case ACCESS -> {
                    access(version);
                    return false;
                }
                case WRITE -> {
                    if (write(value, version)) {
                        return true;
                    }
                }
                case REMOVE -> {
                    if (remove(version)) {
                        return true;
                    }
                }
            }
        }
    }

    private void access(long version) {
        final long ttlMs = expiry.accessMs();
        if (ttlMs != Ttl.UNCHANGED) {
            binding.touch(buffer, version, ttlMs);
        }
    }

    private boolean write(@Nullable V value, long version) {
        if (existed && updateMs == NOT_EVALUATED) {
            updateMs = expiry.updateMs();
        }
        if (!existed && createMs == NOT_EVALUATED) {
            createMs = expiry.createMs();
        }
        final WriterCalls<K, V> writes = binding.writes();
        if (writes != null && value != null && !writerCalled) {
            writes.write(key, value);
            writerCalled = true;
        }
        final Request request = buffer.put()
                .when(existed ? Condition.IF_VERSION : Condition.IF_ABSENT, version)
                .ttl(existed ? Ttl.ETERNAL : createMs, existed ? updateMs : Ttl.UNCHANGED);
        binding.execute(request);
        return request.status() == Status.OK;
    }

    private boolean remove(long version) {
        final WriterCalls<K, V> writes = binding.writes();
        if (writes != null && !writerCalled) {
            writes.delete(key);
            writerCalled = true;
        }
        final Request request = buffer.delete().when(Condition.IF_VERSION, version);
        binding.execute(request);
        return request.status() == Status.OK;
    }
}
