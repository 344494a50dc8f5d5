package org.rowankv.protocol;

import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.runtime.CounterStarts;

/**
 * Counter of one shard's versions on its primary; assigns each once. It never exceeds an epoch: long before its end,
 * {@link #needsEpoch} requests the next one, and shortly before, {@link #mayTake} refuses until {@link #renew}.
 *
 * <p>Thread-safe.
 */
public final class VersionCounter {
    /** From here on it requests another epoch: the rest lasts for more than an hour at a million writes a second. */
    static final long RENEWED_FROM = Version.MAX_COUNTER - (1L << 32);
    /** From here on it assigns none: the rest exceeds the mutations between {@link #mayTake} and {@link #take}. */
    static final long REFUSED_FROM = Version.MAX_COUNTER - (1L << 20);

    private final AtomicLong last;
    /** Written by the thread that asks for epochs. */
    private volatile long failures;

    /** @param epoch of the shard; larger than that of every version given out before */
    public VersionCounter(int epoch) {
        this.last = new AtomicLong(Version.of(epoch, 0));
    }

    /** As above, where the counter may begin near a point at which something happens to it: every other shard near another one. */
    public VersionCounter(int epoch, int shard, CounterStarts counters) {
        this.last = new AtomicLong(Version.of(epoch, counters.of(0L, shard % 2 == 0 ? RENEWED_FROM : REFUSED_FROM)));
    }

    /** The last assigned version, or one between all earlier and all later versions. */
    public long last() {
        return last.get();
    }

    /** A lower bound of all later versions. */
    public long lowerBound() {
        return Version.next(last.get());
    }

    /** Whether the shard needs another epoch. */
    public boolean needsEpoch() {
        return Version.counter(last.get()) >= RENEWED_FROM;
    }

    /** Whether a mutation may take a version. If not, it waits for another epoch. */
    public boolean mayTake() {
        return Version.counter(last.get()) < REFUSED_FROM;
    }

    /**
     * The next version. {@link #mayTake} was true shortly before.
     *
     * @throws AssertionError if the epoch has no version left
     */
    public long take() {
        while (true) {
            final long before = last.get();
            if (Version.counter(before) == Version.MAX_COUNTER) {
                throw new AssertionError("no version is left behind " + Version.toString(before));
            }
            if (last.compareAndSet(before, Version.next(before))) {
                return Version.next(before);
            }
        }
    }

    /**
     * Continues with another epoch, which is stored as the shard's.
     *
     * @throws IllegalArgumentException if it is not larger than the present one
     */
    public void renew(int epoch) {
        if (!renewIfLater(epoch)) {
            throw new IllegalArgumentException("epoch " + epoch + " behind " + Version.toString(last.get()));
        }
    }

    /** As {@link #renew}; false if the epoch is not larger than the present one. */
    public boolean renewIfLater(int epoch) {
        final long first = Version.of(epoch, 0);
        while (true) {
            final long before = last.get();
            if (epoch <= Version.epoch(before)) {
                return false;
            }
            if (last.compareAndSet(before, first)) {
                return true;
            }
        }
    }

    /** Number of failures to store another epoch. A waiting mutation is refused when it rises. */
    public long failures() {
        return failures;
    }

    /** Counts a failure to store another epoch. One thread only. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    public void failed() {
        failures++;
    }
}
