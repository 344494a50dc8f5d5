package org.rowankv.jcache.operation;

import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.expiry.ExpiryEvaluator;
import org.rowankv.jcache.integration.WriterCalls;
import org.rowankv.jcache.management.Statistics;
import org.rowankv.jcache.store.KeyedLocks;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;

/**
 * Operations that change one entry. With constant lifetimes and no writer each is one request; otherwise, and if values
 * are compared, a {@link ConditionalChange}. Thread-safe.
 */
public final class Mutations<K, V> {
    private final CacheBinding<K, V> binding;
    private final Statistics statistics;
    /** Whether a put is independent of the previous entry: no writer, constant lifetimes. */
    private final boolean direct;

    private final long createMs;
    private final long updateMs;

    public Mutations(CacheBinding<K, V> binding) {
        final ExpiryEvaluator expiry = binding.expiry();
        this.binding = binding;
        this.statistics = binding.statistics();
        this.direct = binding.writes() == null && expiry.isConstant();
        this.createMs = expiry.isConstant() ? expiry.createMs() : Ttl.ETERNAL;
        this.updateMs = expiry.isConstant() ? expiry.updateMs() : Ttl.UNCHANGED;
    }

    private RequestBuffer acquireFor(K key, V value) {
        binding.checkKey(key);
        binding.checkValue(value);
        final RequestBuffer buffer = binding.acquireFor(key);
        boolean encoded = false;
        try {
            binding.encodeValue(value, buffer.value());
            encoded = true;
        } finally {
            if (!encoded) {
                buffer.close();
            }
        }
        return buffer;
    }

    /** Puts the buffer's value if the change requires it; the buffer's request contains the outcome. */
    private void put(MutationKind change, RequestBuffer buffer, K key, V value) {
        if (direct) {
            putDirectly(change, buffer, false);
        } else {
            final boolean unused = new ConditionalChange<>(binding, buffer, change, key, false).run(null, value, false);
        }
    }

    /** Puts with one request; requires constant lifetimes and no writer. */
    private void putDirectly(MutationKind change, RequestBuffer buffer, boolean needsOldValue) {
        final Request request = buffer.put().requestValue(needsOldValue);
        switch (change) {
            case PUT -> request.ttl(createMs, updateMs);
            case PUT_IF_ABSENT -> request.when(Condition.IF_ABSENT).ttl(createMs, Ttl.UNCHANGED);
            default -> request.when(Condition.IF_PRESENT).ttl(Ttl.ETERNAL, updateMs);
        }
        binding.execute(request);
    }

    private static boolean isApplied(Request request) {
        return request.operation() == Operation.PUT && request.status() == Status.OK;
    }

    /** Counts a put whose value was stored and did not expire at once; returns whether it did so. */
    private boolean countPut(Request request, long startNs) {
        final boolean stored =
                isApplied(request) && (!request.has(ResultBits.BORN_EXPIRED) || request.has(ResultBits.EXISTED));
        if (stored) {
            statistics.put(startNs);
        }
        return stored;
    }

    private boolean countRemoval(boolean removed, long startNs) {
        if (removed) {
            statistics.removed(startNs);
        }
        return removed;
    }

    public void put(K key, V value) {
        final long startNs = statistics.start();
        try (RequestBuffer buffer = acquireFor(key, value)) {
            put(MutationKind.PUT, buffer, key, value);
            countPut(buffer.request(), startNs);
        }
    }

    /** Puts an entry that the writer has already received. */
    void putWritten(K key, V value) {
        final long startNs = statistics.start();
        try (RequestBuffer buffer = acquireFor(key, value)) {
            if (binding.expiry().isConstant()) {
                putDirectly(MutationKind.PUT, buffer, false);
            } else {
                final boolean unused =
                        new ConditionalChange<>(binding, buffer, MutationKind.PUT, key, true).run(null, value, false);
            }
            countPut(buffer.request(), startNs);
        }
    }

    /** Whether {@link #beginPut} may replace {@link #putWritten}, and is faster. */
    boolean batches() {
        return binding.isRemote() && binding.expiry().isConstant();
    }

    /** Creates a request that puts an entry which the writer has already received, for a batch. */
    Request beginPut(K key, V value) {
        try (RequestBuffer buffer = acquireFor(key, value)) {
            return buffer.separatePut().ttl(createMs, updateMs);
        }
    }

    /** Completes such a request: counts it, or throws. */
    void endPut(Request request, long startNs) {
        binding.checkOutcome(request);
        countPut(request, startNs);
    }

    public @Nullable V getAndPut(K key, V value) {
        return putAndGetOld(MutationKind.PUT, key, value);
    }

    public @Nullable V getAndReplace(K key, V value) {
        return putAndGetOld(MutationKind.REPLACE, key, value);
    }

    private @Nullable V putAndGetOld(MutationKind change, K key, V value) {
        final long startNs = statistics.start();
        try (RequestBuffer buffer = acquireFor(key, value)) {
            final V old;
            if (direct) {
                putDirectly(change, buffer, true);
                final Request request = buffer.request();
                old = isApplied(request) && request.has(ResultBits.EXISTED) ? binding.valueOf(request) : null;
            } else {
                final ConditionalChange<K, V> conditional =
                        new ConditionalChange<>(binding, buffer, change, key, false);
                old = conditional.run(null, value, true) ? conditional.oldValue() : null;
            }
            statistics.got(old != null, startNs);
            countPut(buffer.request(), startNs);
            return old;
        }
    }

    public boolean putIfAbsent(K key, V value) {
        final long startNs = statistics.start();
        try (RequestBuffer buffer = acquireFor(key, value)) {
            put(MutationKind.PUT_IF_ABSENT, buffer, key, value);
            statistics.got(!isApplied(buffer.request()), startNs);
            return countPut(buffer.request(), startNs);
        }
    }

    public boolean replace(K key, V value) {
        final long startNs = statistics.start();
        try (RequestBuffer buffer = acquireFor(key, value)) {
            put(MutationKind.REPLACE, buffer, key, value);
            statistics.got(isApplied(buffer.request()), startNs);
            return countPut(buffer.request(), startNs);
        }
    }

    public boolean replace(K key, V expected, V value) {
        binding.checkKey(key);
        binding.checkValue(expected);
        final long startNs = statistics.start();
        try (RequestBuffer buffer = acquireFor(key, value)) {
            final ConditionalChange<K, V> change =
                    new ConditionalChange<>(binding, buffer, MutationKind.REPLACE_VALUE, key, false);
            final boolean applied = change.run(expected, value, false);
            statistics.got(change.existed(), startNs);
            return applied && countPut(buffer.request(), startNs);
        }
    }

    public boolean replaceIfVersion(K key, V value, long version) {
        final long startNs = statistics.start();
        try (RequestBuffer buffer = acquireFor(key, value)) {
            requireNoWriter("replaceIfVersion", "replace");
            final Request request = buffer.put()
                    .when(Condition.IF_VERSION, version)
                    .ttl(Ttl.ETERNAL, binding.expiry().updateMs());
            binding.execute(request);
            statistics.got(request.has(ResultBits.EXISTED), startNs);
            return countPut(request, startNs);
        }
    }

    private void requireNoWriter(String operation, String instead) {
        if (binding.writes() != null) {
            throw new UnsupportedOperationException(
                    operation + " on a write-through cache: use " + instead + " or invoke, which call the writer");
        }
    }

    public boolean removeIfVersion(K key, long version) {
        final long startNs = statistics.start();
        try (RequestBuffer buffer = binding.acquireFor(key)) {
            requireNoWriter("removeIfVersion", "remove");
            final Request request = buffer.delete().when(Condition.IF_VERSION, version);
            binding.execute(request);
            statistics.got(request.has(ResultBits.EXISTED), startNs);
            return countRemoval(request.status() == Status.OK, startNs);
        }
    }

    public boolean remove(K key) {
        final long startNs = statistics.start();
        try (RequestBuffer buffer = binding.acquireFor(key)) {
            return countRemoval(delete(buffer, key, false).status() == Status.OK, startNs);
        }
    }

    /** Removes an entry after the writer's call. */
    boolean removeWritten(K key) {
        final long startNs = statistics.start();
        try (RequestBuffer buffer = binding.acquireFor(key)) {
            return countRemoval(delete(buffer, false).status() == Status.OK, startNs);
        }
    }

    /** Calls the writer, also without an entry, and removes the entry. */
    private Request delete(RequestBuffer buffer, K key, boolean needsOldValue) {
        final WriterCalls<K, V> writes = binding.writes();
        if (writes == null) {
            return delete(buffer, needsOldValue);
        }
        final KeyedLocks locks = binding.sharedState().locks();
        final KeyedLocks.KeyLock lock = locks.lock(buffer.key().toBytes());
        try {
            writes.delete(key);
            return delete(buffer, needsOldValue);
        } finally {
            locks.unlock(lock);
        }
    }

    private Request delete(RequestBuffer buffer, boolean needsOldValue) {
        final Request request = buffer.delete().requestValue(needsOldValue);
        binding.execute(request);
        return request;
    }

    public boolean remove(K key, V expected) {
        binding.checkKey(key);
        binding.checkValue(expected);
        final long startNs = statistics.start();
        try (RequestBuffer buffer = binding.acquireFor(key)) {
            final ConditionalChange<K, V> change =
                    new ConditionalChange<>(binding, buffer, MutationKind.REMOVE_VALUE, key, false);
            final boolean removed = change.run(expected, null, false);
            statistics.got(change.existed(), startNs);
            return countRemoval(removed, startNs);
        }
    }

    @Nullable
    public V getAndRemove(K key) {
        final long startNs = statistics.start();
        try (RequestBuffer buffer = binding.acquireFor(key)) {
            final Request request = delete(buffer, key, true);
            final V old = request.status() == Status.OK ? binding.valueOf(request) : null;
            statistics.got(old != null, startNs);
            countRemoval(old != null, startNs);
            return old;
        }
    }
}
