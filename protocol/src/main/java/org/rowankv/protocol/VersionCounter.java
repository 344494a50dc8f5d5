package org.rowankv.protocol;

import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.runtime.CounterStarts;

/**
 * Gives out the versions of one shard on its primary, each once. It never goes past the last version of an epoch: long before,
 * {@link #needsEpoch} asks for the next one, and shortly before, {@link #mayTake} refuses until {@link #renew} has brought it.
 *
 * <p>Thread-safe.
 */
public final class VersionCounter {
    /** From here on another epoch is asked for: the rest lasts for more than an hour at a million writes a second. */
    static final long RENEWED_FROM = Version.MAX_COUNTER - (1L << 32);
    /** From here on none is taken: the rest is more than there are mutations between that question and their version. */
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

    /** The version given out last, or one that is smaller than every one to come and larger than every one before. */
    public long last() {
        return last.get();
    }

    /** A lower bound of every version that will be taken from now on. */
    public long lowerBound() {
        return Version.next(last.get());
    }

    /** Whether the shard should get another epoch. */
    public boolean needsEpoch() {
        return Version.counter(last.get()) >= RENEWED_FROM;
    }

    /** Whether a mutation may go on to take a version. If not, it waits for another epoch. */
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
     * Goes on with the versions of another epoch, which is stored as that of the shard.
     *
     * @throws IllegalArgumentException if that is not larger than the present one
     */
    public void renew(int epoch) {
        final long first = Version.of(epoch, 0);
        while (true) {
            final long before = last.get();
            if (epoch <= Version.epoch(before)) {
                throw new IllegalArgumentException("epoch " + epoch + " behind " + Version.toString(before));
            }
            if (last.compareAndSet(before, first)) {
                return;
            }
        }
    }

    /** How often another epoch could not be had. A mutation that waits for one is refused when this has risen. */
    public long failures() {
        return failures;
    }

    /** Another epoch could not be had. By one thread. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    public void failed() {
        failures++;
    }
}
