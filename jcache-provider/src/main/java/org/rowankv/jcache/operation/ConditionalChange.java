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
 * One change that has to see the entry first, because a policy wants to know whether it creates or updates, a writer is
 * called before, or values are compared: read, decide, compare-and-set by version, and again if another was faster.
 *
 * <p>Policy and writer are called once for each thing they are asked, however often that is. Values are compared here with
 * {@code equals}, never by their bytes. Used by one thread, for one operation.
 */
final class ConditionalChange<K, V> {
    private static final long NOT_ASKED = Long.MIN_VALUE;

    private final CacheBinding<K, V> opening;
    private final ExpiryEvaluator lifetimes;
    private final RequestBuffer scratch;
    private final MutationKind change;
    private final K key;
    private long createMs = NOT_ASKED;
    private long updateMs = NOT_ASKED;
    private boolean writerCalled;

    // The outcome.
    private boolean existed;
    private @Nullable V oldValue;

    /**
     * @param scratch holds the key, and the value to write if there is one
     * @param writerCalled whether the writer was told of the change already
     */
    ConditionalChange(
            CacheBinding<K, V> opening, RequestBuffer scratch, MutationKind change, K key, boolean writerCalled) {
        this.opening = opening;
        this.lifetimes = opening.lifetimes();
        this.scratch = scratch;
        this.change = change;
        this.key = key;
        this.writerCalled = writerCalled;
    }

    /** Whether there was an entry when the operation took its effect, or found that it has none. */
    boolean existed() {
        return existed;
    }

    /** The value that was there, if asked for. */
    @Nullable
    V oldValue() {
        return oldValue;
    }

    /**
     * Carries the change out.
     *
     * @param expected what the present value must equal, for the changes that compare
     * @param value what to write, for the changes that write
     * @return whether it took effect; then the scratch's request is what wrote or removed
     */
    boolean run(@Nullable V expected, @Nullable V value, boolean wantsOldValue) {
        if (opening.writes() == null || writerCalled) {
            return loop(expected, value, wantsOldValue);
        }
        final KeyedLocks gates = opening.rendezvous().gates();
        final KeyedLocks.Gate gate = gates.enter(scratch.key().toBytes());
        try {
            return loop(expected, value, wantsOldValue);
        } finally {
            gates.leave(gate);
        }
    }

    private boolean loop(@Nullable V expected, @Nullable V value, boolean wantsOldValue) {
        final boolean needsValue = wantsOldValue || change.comparesValues();
        for (; ; ) {
            final Request read = scratch.get().requestValue(needsValue);
            opening.execute(read);
            final long version = read.version();
            existed = read.status() == Status.OK;
            oldValue = existed && needsValue ? opening.valueOf(read) : null;
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
        final long ttlMs = lifetimes.accessMs();
        if (ttlMs != Ttl.UNCHANGED) {
            opening.touch(scratch, version, ttlMs);
        }
    }

    private boolean write(@Nullable V value, long version) {
        if (existed && updateMs == NOT_ASKED) {
            updateMs = lifetimes.updateMs();
        }
        if (!existed && createMs == NOT_ASKED) {
            createMs = lifetimes.createMs();
        }
        final WriterCalls<K, V> writes = opening.writes();
        if (writes != null && value != null && !writerCalled) {
            writes.write(key, value);
            writerCalled = true;
        }
        final Request request = scratch.put()
                .when(existed ? Condition.IF_VERSION : Condition.IF_ABSENT, version)
                .ttl(existed ? Ttl.ETERNAL : createMs, existed ? updateMs : Ttl.UNCHANGED);
        opening.execute(request);
        return request.status() == Status.OK;
    }

    private boolean remove(long version) {
        final WriterCalls<K, V> writes = opening.writes();
        if (writes != null && !writerCalled) {
            writes.delete(key);
            writerCalled = true;
        }
        final Request request = scratch.delete().when(Condition.IF_VERSION, version);
        opening.execute(request);
        return request.status() == Status.OK;
    }
}
