package org.rowankv.check.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import javax.cache.Cache;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.ChainEvent;
import org.rowankv.check.history.Outcome;
import org.rowankv.check.history.ValueEvent;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SystemClock;

/**
 * A caller of the cache API that performs random operations on random keys and records the replies. Owned by its
 * thread; the counts are safe for any thread.
 *
 * <p>Times are those of {@link SystemClock}. Comparing times of different JVMs requires a common clock, see {@link
 * ClientProcess#requireSameClock}.
 */
final class CacheCaller {
    /** Percentage of operations; the rest goes to registers. */
    private static final int OF_COUNTERS = 15;

    private static final int OF_CHAINS = 15;
    /** Operations per window without a pause: bounds the history of a long window. */
    private static final int FULL_SPEED = 200;

    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);

    /** An operation, and the slot of its key: a register, or a counter or chain. */
    record Noted(
            int slot, @Nullable ValueEvent value, @Nullable ChainEvent chain) {}

    private final Keys keys;
    private final boolean onlyReads;
    private final boolean oneRegister;
    private final int number;
    private final RandomSource random;
    private final TimedCalls calls;
    private final RegisterCaller registers;
    private final ChainCaller chains;
    private final List<Noted> noted = new ArrayList<>();

    private volatile long operations;
    private volatile long unknown;
    private volatile long refused;

    CacheCaller(
            int number,
            Cache<String, String> cache,
            Cache<String, Long> counters,
            Keys keys,
            boolean onlyReads,
            boolean oneRegister,
            TimerLag lag,
            RandomSource random) {
        this.keys = keys;
        this.onlyReads = onlyReads;
        this.oneRegister = oneRegister;
        this.number = number;
        this.random = random;
        this.calls = new TimedCalls(lag);
        this.registers = new RegisterCaller(number, cache, keys.registers(), calls, random.fork("registers"));
        this.chains = new ChainCaller(number, cache, counters, calls);
    }

    /** Returns what was recorded since the last call. */
    List<Noted> takeNoted() {
        final List<Noted> taken = List.copyOf(noted);
        noted.clear();
        return taken;
    }

    TimedCalls calls() {
        return calls;
    }

    /** Number of operations so far. Any thread. */
    long operations() {
        return operations;
    }

    /** Number of operations with unknown outcome. Any thread. */
    long unknown() {
        return unknown;
    }

    /** Number of operations that certainly had no effect. Any thread. */
    long refused() {
        return refused;
    }

    /** @param generations current key generation of each slot */
    void askUntil(BooleanSupplier isRest, int[] generations) {
        for (int asked = 0; !isRest.getAsBoolean(); asked++) {
            if (asked >= FULL_SPEED) {
                LockSupport.parkNanos(this, PAUSE_NS);
            }
            askOnce(generations);
        }
    }

    private void askOnce(int[] generations) {
        final int drawn = oneRegister ? 100 : random.nextInt(100);
        if (drawn < OF_COUNTERS) {
            final int slot = keys.firstCounter() + random.nextInt(keys.counters());
            final String key = Keys.name(slot, generations[slot]);
            note(slot, onlyReads || drawn == 0 ? chains.readCounter(key) : chains.increment(key));
        } else if (drawn < OF_COUNTERS + OF_CHAINS) {
            final int slot = keys.firstChain() + random.nextInt(keys.chains());
            final String key = Keys.name(slot, generations[slot]);
            if (onlyReads) {
                note(slot, chains.readChain(key));
            } else {
                chains.extend(key).forEach(event -> note(slot, event));
            }
        } else {
            final int slot = oneRegister ? number % keys.registers() : random.nextInt(keys.registers());
            final String key = Keys.name(slot, generations[slot]);
            final ValueEvent event = onlyReads ? registers.read(slot, key) : registers.ask(slot, key);
            noted.add(new Noted(slot, event, null));
            count(event.outcome());
        }
    }

    private void note(int slot, ChainEvent event) {
        noted.add(new Noted(slot, null, event));
        count(event.outcome());
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // single writer
    private void count(Outcome outcome) {
        operations++;
        unknown += outcome == Outcome.UNKNOWN ? 1 : 0;
        refused += outcome == Outcome.REFUSED ? 1 : 0;
    }
}
