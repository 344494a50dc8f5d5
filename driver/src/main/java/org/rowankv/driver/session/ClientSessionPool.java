package org.rowankv.driver.session;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.concurrent.DenseSlotPool;
import org.rowankv.runtime.concurrent.FairSlotPool;
import org.rowankv.runtime.concurrent.Parker;
import org.rowankv.runtime.concurrent.SlotPool;
import org.rowankv.runtime.concurrent.VirtualThreads;

/**
 * Pool of the sessions of one client: a caller acquires one per mutation. Virtual threads use the spare sessions, which
 * are many, because a thousand virtual callers are common. Other threads use them when callers of an unresponsive
 * server hold all regular ones. Each session is open at every shard it was used at, so the pool uses no more sessions
 * than mutations were in flight at once. Thread-safe.
 */
final class ClientSessionPool {
    static final int SPARE_SESSIONS = 1_024;

    private static final BooleanSupplier NEVER = () -> false;

    private final ClientSession[] sessions;
    /** Spare sessions, created on first use by the holder of the slot. */
    private final AtomicReferenceArray<@Nullable ClientSession> spareSessions =
            new AtomicReferenceArray<>(SPARE_SESSIONS);

    private final FairSlotPool slots;
    private final FairSlotPool spareSlots;

    private final CounterStarts counters;
    private final RandomSource random;
    /** By shard: the newest version in a response to an opening. Guarded by {@link #random}. */
    private long[] newestVersions = new long[0];

    /**
     * @param count of sessions for platform threads
     * @param counters first sequences of each session
     */
    ClientSessionPool(int count, Clock clock, RandomSource random, CounterStarts counters) {
        this.counters = counters;
        this.random = random;
        this.slots = new FairSlotPool(new SlotPool(count), Parker.THREADS, clock);
        this.spareSlots = new FairSlotPool(new DenseSlotPool(SPARE_SESSIONS), Parker.THREADS, clock);
        this.sessions = new ClientSession[count];
        for (int i = 0; i < sessions.length; i++) {
            sessions[i] = new ClientSession(freshSessionId(), counters);
        }
    }

    private long freshSessionId() {
        synchronized (random) {
            long id;
            do {
                id = random.nextLong();
            } while (id == 0);
            return id;
        }
    }

    /** A version that the shard has assigned, for the opening of a session; 0 if none is known. */
    long newestVersion(int shard) {
        synchronized (random) {
            return shard < newestVersions.length ? newestVersions[shard] : 0;
        }
    }

    /** Records a version that the shard has assigned. */
    void recordVersion(int shard, long version) {
        synchronized (random) {
            if (shard >= newestVersions.length) {
                newestVersions = Arrays.copyOf(newestVersions, Math.max(shard + 1, 2 * newestVersions.length));
            }
            newestVersions[shard] = Math.max(newestVersions[shard], version);
        }
    }

    /** Acquires a session and returns its index; waits uninterruptibly until one is free. */
    int acquire() {
        return VirtualThreads.isCurrentVirtual() ? slots.count() + spareSlots.acquire() : slots.acquire();
    }

    /** Acquires a session without waiting; returns its index, or −1 if none is free. */
    int tryAcquire() {
        final int slot = VirtualThreads.isCurrentVirtual() ? -1 : slots.tryAcquireInOrder();
        if (slot >= 0) {
            return slot;
        }
        final int spare = spareSlots.tryAcquireInOrder();
        return spare < 0 ? spare : slots.count() + spare;
    }

    /** As {@link #acquire()}, but −1 if none is free by the deadline. */
    int acquire(long deadlineNs) {
        if (VirtualThreads.isCurrentVirtual()) {
            final int slot = spareSlots.acquire(deadlineNs, NEVER);
            return slot < 0 ? slot : slots.count() + slot;
        }
        return slots.acquire(deadlineNs, NEVER);
    }

    /** The session at an index that the caller holds. */
    ClientSession at(int index) {
        if (index < sessions.length) {
            return sessions[index];
        }
        final ClientSession present = spareSessions.get(index - sessions.length);
        if (present != null) {
            return present;
        }
        final ClientSession created = new ClientSession(freshSessionId(), counters);
        spareSessions.set(index - sessions.length, created);
        return created;
    }

    /** Releases a session and wakes the longest waiter. */
    void release(int index) {
        final int own = slots.count();
        if (index >= own) {
            spareSlots.release(index - own);
        } else {
            slots.release(index);
        }
    }

    void renew(ClientSession session) {
        session.renew(freshSessionId());
    }

    /** All sessions created so far. */
    void forEach(Consumer<ClientSession> action) {
        for (ClientSession session : sessions) {
            action.accept(session);
        }
        for (int i = 0; i < spareSessions.length(); i++) {
            final ClientSession session = spareSessions.get(i);
            if (session != null) {
                action.accept(session);
            }
        }
    }
}
