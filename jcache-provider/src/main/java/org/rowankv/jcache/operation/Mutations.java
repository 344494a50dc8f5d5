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
 * The operations that change one entry. With constant lifetimes and no writer each is one request; otherwise, and where
 * values are compared, a {@link ConditionalChange}. Thread-safe.
 */
public final class Mutations<K, V> {
    private final CacheBinding<K, V> opening;
    private final Statistics statistics;
    /** Whether a put needs to know nothing of the entry before: no writer, no policy that is asked. */
    private final boolean direct;

    private final long createMs;
    private final long updateMs;

    public Mutations(CacheBinding<K, V> opening) {
        final ExpiryEvaluator lifetimes = opening.lifetimes();
        this.opening = opening;
        this.statistics = opening.statistics();
        this.direct = opening.writes() == null && lifetimes.isConstant();
        this.createMs = lifetimes.isConstant() ? lifetimes.createMs() : Ttl.ETERNAL;
        this.updateMs = lifetimes.isConstant() ? lifetimes.updateMs() : Ttl.UNCHANGED;
    }

    private RequestBuffer borrowFor(K key, V value) {
        opening.checkKey(key);
        opening.checkValue(value);
        final RequestBuffer scratch = opening.borrowFor(key);
        boolean encoded = false;
        try {
            opening.encodeValue(value, scratch.value());
            encoded = true;
        } finally {
            if (!encoded) {
                scratch.close();
            }
        }
        return scratch;
    }

    /** Puts what the scratch holds, if the change says so; the scratch's request says what came of it. */
    private void put(MutationKind change, RequestBuffer scratch, K key, V value) {
        if (direct) {
            putDirectly(change, scratch, false);
        } else {
            final boolean unused =
                    new ConditionalChange<>(opening, scratch, change, key, false).run(null, value, false);
        }
    }

    /** With constant lifetimes and no writer to call: in one request. */
    private void putDirectly(MutationKind change, RequestBuffer scratch, boolean wantsOldValue) {
        final Request request = scratch.put().requestValue(wantsOldValue);
        switch (change) {
            case PUT -> request.ttl(createMs, updateMs);
            case PUT_IF_ABSENT -> request.when(Condition.IF_ABSENT).ttl(createMs, Ttl.UNCHANGED);
            default -> request.when(Condition.IF_PRESENT).ttl(Ttl.ETERNAL, updateMs);
        }
        opening.execute(request);
    }

    private static boolean isApplied(Request request) {
        return request.operation() == Operation.PUT && request.status() == Status.OK;
    }

    /** Counts a put that has stored its value, and not let it expire into nothing; returns whether it has. */
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
        try (RequestBuffer scratch = borrowFor(key, value)) {
            put(MutationKind.PUT, scratch, key, value);
            countPut(scratch.request(), startNs);
        }
    }

    /** Puts an entry that the writer has been given already. */
    void putWritten(K key, V value) {
        final long startNs = statistics.start();
        try (RequestBuffer scratch = borrowFor(key, value)) {
            if (opening.lifetimes().isConstant()) {
                putDirectly(MutationKind.PUT, scratch, false);
            } else {
                final boolean unused =
                        new ConditionalChange<>(opening, scratch, MutationKind.PUT, key, true).run(null, value, false);
            }
            countPut(scratch.request(), startNs);
        }
    }

    /** Whether {@link #beginPut} can stand for {@link #putWritten}, and is worth it. */
    boolean goesTogether() {
        return opening.isRemote() && opening.lifetimes().isConstant();
    }

    /** A request that puts an entry which the writer has been given already; to be executed with others. */
    Request beginPut(K key, V value) {
        try (RequestBuffer scratch = borrowFor(key, value)) {
            return scratch.separatePut().ttl(createMs, updateMs);
        }
    }

    /** Such a request has its answer: counts it, or throws. */
    void endPut(Request request, long startNs) {
        opening.checkOutcome(request);
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
        try (RequestBuffer scratch = borrowFor(key, value)) {
            final V old;
            if (direct) {
                putDirectly(change, scratch, true);
                final Request request = scratch.request();
                old = isApplied(request) && request.has(ResultBits.EXISTED) ? opening.valueOf(request) : null;
            } else {
                final ConditionalChange<K, V> conditional =
                        new ConditionalChange<>(opening, scratch, change, key, false);
                old = conditional.run(null, value, true) ? conditional.oldValue() : null;
            }
            statistics.got(old != null, startNs);
            countPut(scratch.request(), startNs);
            return old;
        }
    }

    public boolean putIfAbsent(K key, V value) {
        final long startNs = statistics.start();
        try (RequestBuffer scratch = borrowFor(key, value)) {
            put(MutationKind.PUT_IF_ABSENT, scratch, key, value);
            statistics.got(!isApplied(scratch.request()), startNs);
            return countPut(scratch.request(), startNs);
        }
    }

    public boolean replace(K key, V value) {
        final long startNs = statistics.start();
        try (RequestBuffer scratch = borrowFor(key, value)) {
            put(MutationKind.REPLACE, scratch, key, value);
            statistics.got(isApplied(scratch.request()), startNs);
            return countPut(scratch.request(), startNs);
        }
    }

    public boolean replace(K key, V expected, V value) {
        opening.checkKey(key);
        opening.checkValue(expected);
        final long startNs = statistics.start();
        try (RequestBuffer scratch = borrowFor(key, value)) {
            final ConditionalChange<K, V> change =
                    new ConditionalChange<>(opening, scratch, MutationKind.REPLACE_VALUE, key, false);
            final boolean applied = change.run(expected, value, false);
            statistics.got(change.existed(), startNs);
            return applied && countPut(scratch.request(), startNs);
        }
    }

    public boolean replaceIfVersion(K key, V value, long version) {
        final long startNs = statistics.start();
        try (RequestBuffer scratch = borrowFor(key, value)) {
            requireNoWriter("replaceIfVersion", "replace");
            final Request request = scratch.put()
                    .when(Condition.IF_VERSION, version)
                    .ttl(Ttl.ETERNAL, opening.lifetimes().updateMs());
            opening.execute(request);
            statistics.got(request.has(ResultBits.EXISTED), startNs);
            return countPut(request, startNs);
        }
    }

    private void requireNoWriter(String operation, String instead) {
        if (opening.writes() != null) {
            throw new UnsupportedOperationException(
                    operation + " on a write-through cache: use " + instead + " or invoke, which call the writer");
        }
    }

    public boolean removeIfVersion(K key, long version) {
        final long startNs = statistics.start();
        try (RequestBuffer scratch = opening.borrowFor(key)) {
            requireNoWriter("removeIfVersion", "remove");
            final Request request = scratch.delete().when(Condition.IF_VERSION, version);
            opening.execute(request);
            statistics.got(request.has(ResultBits.EXISTED), startNs);
            return countRemoval(request.status() == Status.OK, startNs);
        }
    }

    public boolean remove(K key) {
        final long startNs = statistics.start();
        try (RequestBuffer scratch = opening.borrowFor(key)) {
            return countRemoval(delete(scratch, key, false).status() == Status.OK, startNs);
        }
    }

    /** Removes an entry that the writer has been told of already. */
    boolean removeWritten(K key) {
        final long startNs = statistics.start();
        try (RequestBuffer scratch = opening.borrowFor(key)) {
            return countRemoval(delete(scratch, false).status() == Status.OK, startNs);
        }
    }

    /** Tells the writer, whether or not there is an entry, and then removes it. */
    private Request delete(RequestBuffer scratch, K key, boolean wantsOldValue) {
        final WriterCalls<K, V> writes = opening.writes();
        if (writes == null) {
            return delete(scratch, wantsOldValue);
        }
        final KeyedLocks gates = opening.rendezvous().gates();
        final KeyedLocks.Gate gate = gates.enter(scratch.key().toBytes());
        try {
            writes.delete(key);
            return delete(scratch, wantsOldValue);
        } finally {
            gates.leave(gate);
        }
    }

    private Request delete(RequestBuffer scratch, boolean wantsOldValue) {
        final Request request = scratch.delete().requestValue(wantsOldValue);
        opening.execute(request);
        return request;
    }

    public boolean remove(K key, V expected) {
        opening.checkKey(key);
        opening.checkValue(expected);
        final long startNs = statistics.start();
        try (RequestBuffer scratch = opening.borrowFor(key)) {
            final ConditionalChange<K, V> change =
                    new ConditionalChange<>(opening, scratch, MutationKind.REMOVE_VALUE, key, false);
            final boolean removed = change.run(expected, null, false);
            statistics.got(change.existed(), startNs);
            return countRemoval(removed, startNs);
        }
    }

    @Nullable
    public V getAndRemove(K key) {
        final long startNs = statistics.start();
        try (RequestBuffer scratch = opening.borrowFor(key)) {
            final Request request = delete(scratch, key, true);
            final V old = request.status() == Status.OK ? opening.valueOf(request) : null;
            statistics.got(old != null, startNs);
            countRemoval(old != null, startNs);
            return old;
        }
    }
}
