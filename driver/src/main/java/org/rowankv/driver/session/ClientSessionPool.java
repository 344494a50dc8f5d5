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
 * The lanes of one client: a caller borrows one for one mutation. Virtual threads use spare lanes, many of them, since a thousand
 * callers are nothing unusual there; other threads do when callers that wait for a server that does not answer hold all of
 * theirs. As each lane is a session at every shard where it was used, no more are used than there were mutations under way at
 * once. Thread-safe.
 */
final class ClientSessionPool {
    static final int SPARE_LANES = 1_024;

    private static final BooleanSupplier NEVER = () -> false;

    private final ClientSession[] lanes;
    /** Behind those, made when they are wanted: whoever has the slot makes it. */
    private final AtomicReferenceArray<@Nullable ClientSession> spareLanes = new AtomicReferenceArray<>(SPARE_LANES);

    private final FairSlotPool line;
    private final FairSlotPool spareLine;

    private final CounterStarts counters;
    private final RandomSource random;
    /** By shard: the newest version that an opening of a session there has met. Guarded by {@link #random}. */
    private long[] newestVersions = new long[0];

    /**
     * @param count of lanes for the system's threads
     * @param counters where the sequences of each lane's first session begin
     */
    ClientSessionPool(int count, Clock clock, RandomSource random, CounterStarts counters) {
        this.counters = counters;
        this.random = random;
        this.line = new FairSlotPool(new SlotPool(count), Parker.THREADS, clock);
        this.spareLine = new FairSlotPool(new DenseSlotPool(SPARE_LANES), Parker.THREADS, clock);
        this.lanes = new ClientSession[count];
        for (int i = 0; i < lanes.length; i++) {
            lanes[i] = new ClientSession(freshSessionId(), counters);
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

    /** A version that the shard has given out, for the opening of a session; 0 if none is known. */
    long asOf(int shard) {
        synchronized (random) {
            return shard < newestVersions.length ? newestVersions[shard] : 0;
        }
    }

    /** The shard has given out that version. */
    void heard(int shard, long version) {
        synchronized (random) {
            if (shard >= newestVersions.length) {
                newestVersions = Arrays.copyOf(newestVersions, Math.max(shard + 1, 2 * newestVersions.length));
            }
            newestVersions[shard] = Math.max(newestVersions[shard], version);
        }
    }

    /** The index of a lane that is now the caller's; waits, without regard to interrupts, until one is free. */
    int borrow() {
        return VirtualThreads.isCurrentVirtual() ? line.count() + spareLine.borrow() : line.borrow();
    }

    /** The index of a lane that is now the caller's, without waiting; −1 if there is none. */
    int borrowAtOnce() {
        final int slot = VirtualThreads.isCurrentVirtual() ? -1 : line.tryBorrowInTurn();
        if (slot >= 0) {
            return slot;
        }
        final int spare = spareLine.tryBorrowInTurn();
        return spare < 0 ? spare : line.count() + spare;
    }

    /** As {@link #borrow()}, but −1 if none became free in time. */
    int borrow(long deadlineNs) {
        if (VirtualThreads.isCurrentVirtual()) {
            final int slot = spareLine.borrow(deadlineNs, NEVER);
            return slot < 0 ? slot : line.count() + slot;
        }
        return line.borrow(deadlineNs, NEVER);
    }

    /** By whoever has borrowed it. */
    ClientSession lane(int index) {
        if (index < lanes.length) {
            return lanes[index];
        }
        final ClientSession present = spareLanes.get(index - lanes.length);
        if (present != null) {
            return present;
        }
        final ClientSession made = new ClientSession(freshSessionId(), counters);
        spareLanes.set(index - lanes.length, made);
        return made;
    }

    /** Whoever waits longest for a lane looks again. */
    void giveBack(int index) {
        final int own = line.count();
        if (index >= own) {
            spareLine.giveBack(index - own);
        } else {
            line.giveBack(index);
        }
    }

    void renew(ClientSession lane) {
        lane.renew(freshSessionId());
    }

    /** Those that there are. */
    void forEach(Consumer<ClientSession> action) {
        for (ClientSession lane : lanes) {
            action.accept(lane);
        }
        for (int i = 0; i < spareLanes.length(); i++) {
            final ClientSession lane = spareLanes.get(i);
            if (lane != null) {
                action.accept(lane);
            }
        }
    }
}
