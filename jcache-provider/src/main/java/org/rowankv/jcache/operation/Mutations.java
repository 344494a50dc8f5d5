package org.rowankv.jcache.operation;

import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.expiry.Lifetimes;
import org.rowankv.jcache.integration.Writes;
import org.rowankv.jcache.management.Statistics;
import org.rowankv.jcache.store.KeyGates;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;

/**
 * The operations that change one entry. With constant lifetimes and no writer each is one request; otherwise, and where
 * values are compared, a {@link ConditionalChange}. Thread-safe.
 */
public final class Mutations<K, V> {
    private final Opening<K, V> opening;
    private final Statistics statistics;
    private final boolean direct;
    private final long createMs;
    private final long updateMs;

    public Mutations(Opening<K, V> opening) {
        final Lifetimes lifetimes = opening.lifetimes();
        this.opening = opening;
        this.statistics = opening.statistics();
        this.direct = opening.isDirect();
        this.createMs = lifetimes.isConstant() ? lifetimes.createMs() : Ttl.ETERNAL;
        this.updateMs = lifetimes.isConstant() ? lifetimes.updateMs() : Ttl.UNCHANGED;
    }

    private Scratch borrowFor(K key, V value) {
        opening.checkKey(key);
        opening.checkValue(value);
        final Scratch scratch = opening.borrowFor(key);
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

    public void put(K key, V value) {
        final long startNs = statistics.start();
        try (Scratch scratch = borrowFor(key, value)) {
            put(scratch, key, value, startNs);
        }
    }

    private void put(Scratch scratch, K key, V value, long startNs) {
        final boolean stored;
        if (direct) {
            stored = isStored(store(scratch));
        } else {
            final ConditionalChange<K, V> change = new ConditionalChange<>(opening, scratch, Change.PUT, key);
            change.run(null, value, false);
            stored = change.isStored();
        }
        if (stored) {
            statistics.put(startNs);
        }
    }

    /** Puts what the scratch holds, with constant lifetimes and no writer. */
    private Request store(Scratch scratch) {
        final Request request = scratch.put().ttl(createMs, updateMs);
        opening.execute(request);
        return request;
    }

    private static boolean isStored(Request request) {
        return !request.has(ResultBits.BORN_EXPIRED) || request.has(ResultBits.EXISTED);
    }

    /** Puts an entry that the writer has been given already. */
    void putWritten(K key, V value) {
        final long startNs = statistics.start();
        try (Scratch scratch = borrowFor(key, value)) {
            final boolean stored;
            if (opening.lifetimes().isConstant()) {
                stored = isStored(store(scratch));
            } else {
                final ConditionalChange<K, V> change = new ConditionalChange<>(opening, scratch, Change.PUT, key);
                change.runUnwritten(null, value, false);
                stored = change.isStored();
            }
            if (stored) {
                statistics.put(startNs);
            }
        }
    }

    /** Whether {@link #beginPut} can stand for {@link #putWritten}, and is worth it. */
    boolean goesTogether() {
        return opening.isRemote() && opening.lifetimes().isConstant();
    }

    /** A request that puts an entry which the writer has been given already; to be executed with others. */
    Request beginPut(K key, V value) {
        try (Scratch scratch = borrowFor(key, value)) {
            return scratch.separatePut().ttl(createMs, updateMs);
        }
    }

    /** Such a request has its answer: counts it, or throws. */
    void endPut(Request request, long startNs) {
        opening.checkOutcome(request);
        if (isStored(request)) {
            statistics.put(startNs);
        }
    }

    @Nullable
    public V getAndPut(K key, V value) {
        final long startNs = statistics.start();
        try (Scratch scratch = borrowFor(key, value)) {
            final V old;
            final boolean stored;
            if (direct) {
                final Request request = scratch.put().ttl(createMs, updateMs).wantValue(true);
                opening.execute(request);
                old = request.has(ResultBits.EXISTED) ? opening.valueOf(request) : null;
                stored = isStored(request);
            } else {
                final ConditionalChange<K, V> change = new ConditionalChange<>(opening, scratch, Change.PUT, key);
                change.run(null, value, true);
                old = change.oldValue();
                stored = change.isStored();
            }
            statistics.got(old != null, startNs);
            if (stored) {
                statistics.put(startNs);
            }
            return old;
        }
    }

    public boolean putIfAbsent(K key, V value) {
        final long startNs = statistics.start();
        try (Scratch scratch = borrowFor(key, value)) {
            final boolean applied;
            final boolean stored;
            if (direct) {
                final Request request = scratch.put().when(Condition.IF_ABSENT).ttl(createMs, Ttl.UNCHANGED);
                opening.execute(request);
                applied = request.status() == Status.OK;
                stored = applied && isStored(request);
            } else {
                final ConditionalChange<K, V> change =
                        new ConditionalChange<>(opening, scratch, Change.PUT_IF_ABSENT, key);
                applied = change.run(null, value, false);
                stored = applied && change.isStored();
            }
            statistics.got(!applied, startNs);
            if (stored) {
                statistics.put(startNs);
            }
            return stored;
        }
    }

    public boolean replace(K key, V value) {
        final long startNs = statistics.start();
        try (Scratch scratch = borrowFor(key, value)) {
            final boolean applied;
            if (direct) {
                final Request request = scratch.put().when(Condition.IF_PRESENT).ttl(Ttl.ETERNAL, updateMs);
                opening.execute(request);
                applied = request.status() == Status.OK;
            } else {
                applied = new ConditionalChange<>(opening, scratch, Change.REPLACE, key).run(null, value, false);
            }
            countReplace(applied, applied, startNs);
            return applied;
        }
    }

    private void countReplace(boolean existed, boolean applied, long startNs) {
        statistics.got(existed, startNs);
        if (applied) {
            statistics.put(startNs);
        }
    }

    @Nullable
    public V getAndReplace(K key, V value) {
        final long startNs = statistics.start();
        try (Scratch scratch = borrowFor(key, value)) {
            final V old;
            if (direct) {
                final Request request = scratch.put()
                        .when(Condition.IF_PRESENT)
                        .ttl(Ttl.ETERNAL, updateMs)
                        .wantValue(true);
                opening.execute(request);
                old = request.status() == Status.OK ? opening.valueOf(request) : null;
            } else {
                final ConditionalChange<K, V> change = new ConditionalChange<>(opening, scratch, Change.REPLACE, key);
                old = change.run(null, value, true) ? change.oldValue() : null;
            }
            countReplace(old != null, old != null, startNs);
            return old;
        }
    }

    public boolean replace(K key, V expected, V value) {
        opening.checkKey(key);
        opening.checkValue(expected);
        final long startNs = statistics.start();
        try (Scratch scratch = borrowFor(key, value)) {
            final ConditionalChange<K, V> change = new ConditionalChange<>(opening, scratch, Change.REPLACE_VALUE, key);
            final boolean applied = change.run(expected, value, false);
            countReplace(change.existed(), applied, startNs);
            return applied;
        }
    }

    public boolean replaceIfVersion(K key, V value, long version) {
        final long startNs = statistics.start();
        try (Scratch scratch = borrowFor(key, value)) {
            final Writes<K, V> writes = opening.writes();
            if (writes != null) {
                throw new UnsupportedOperationException(
                        "replaceIfVersion on a write-through cache: use replace or invoke, which call the writer");
            }
            final Request request = scratch.put()
                    .when(Condition.IF_VERSION, version)
                    .ttl(Ttl.ETERNAL, opening.lifetimes().updateMs());
            opening.execute(request);
            final boolean applied = request.status() == Status.OK;
            countReplace(request.has(ResultBits.EXISTED), applied, startNs);
            return applied;
        }
    }

    public boolean removeIfVersion(K key, long version) {
        final long startNs = statistics.start();
        try (Scratch scratch = opening.borrowFor(key)) {
            if (opening.writes() != null) {
                throw new UnsupportedOperationException(
                        "removeIfVersion on a write-through cache: use remove or invoke, which call the writer");
            }
            final Request request = scratch.delete().when(Condition.IF_VERSION, version);
            opening.execute(request);
            final boolean applied = request.status() == Status.OK;
            statistics.got(request.has(ResultBits.EXISTED), startNs);
            if (applied) {
                statistics.removed(startNs);
            }
            return applied;
        }
    }

    public boolean remove(K key) {
        final long startNs = statistics.start();
        try (Scratch scratch = opening.borrowFor(key)) {
            final boolean removed = delete(scratch, key, false).status() == Status.OK;
            if (removed) {
                statistics.removed(startNs);
            }
            return removed;
        }
    }

    /** Removes an entry that the writer has been told of already. */
    boolean removeWritten(K key) {
        final long startNs = statistics.start();
        try (Scratch scratch = opening.borrowFor(key)) {
            final Request request = scratch.delete();
            opening.execute(request);
            final boolean removed = request.status() == Status.OK;
            if (removed) {
                statistics.removed(startNs);
            }
            return removed;
        }
    }

    /** Tells the writer, whether or not there is an entry, and then removes it. */
    private Request delete(Scratch scratch, K key, boolean wantsOldValue) {
        final Writes<K, V> writes = opening.writes();
        if (writes == null) {
            return delete(scratch, wantsOldValue);
        }
        final KeyGates gates = opening.rendezvous().gates();
        final KeyGates.Gate gate = gates.enter(scratch.key().toBytes());
        try {
            writes.delete(key);
            return delete(scratch, wantsOldValue);
        } finally {
            gates.leave(gate);
        }
    }

    private Request delete(Scratch scratch, boolean wantsOldValue) {
        final Request request = scratch.delete().wantValue(wantsOldValue);
        opening.execute(request);
        return request;
    }

    public boolean remove(K key, V expected) {
        opening.checkKey(key);
        opening.checkValue(expected);
        final long startNs = statistics.start();
        try (Scratch scratch = opening.borrowFor(key)) {
            final ConditionalChange<K, V> change = new ConditionalChange<>(opening, scratch, Change.REMOVE_VALUE, key);
            final boolean removed = change.run(expected, null, false);
            statistics.got(change.existed(), startNs);
            if (removed) {
                statistics.removed(startNs);
            }
            return removed;
        }
    }

    @Nullable
    public V getAndRemove(K key) {
        final long startNs = statistics.start();
        try (Scratch scratch = opening.borrowFor(key)) {
            final Request request = delete(scratch, key, true);
            final V old = request.status() == Status.OK ? opening.valueOf(request) : null;
            statistics.got(old != null, startNs);
            if (old != null) {
                statistics.removed(startNs);
            }
            return old;
        }
    }
}
