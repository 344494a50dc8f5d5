package org.rowankv.check.soak;

import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Model of the allowed values of one cache's keys at any moment. One writer numbers the operations on a key and makes
 * them in sequence. It reports when each begins and when it has taken effect; {@link SoakValue} derives each operation
 * from its number. So a reader may find only the result of one of these operations: the last that had taken effect when
 * the read began, or any later one that had begun when it ended. A value once observed to be gone must not reappear.
 *
 * <p>Thread-safe; one writer per key.
 */
final class SoakModel {
    /** How a value may end without an operation. */
    enum Kind {
        /** Not at all. */
        LASTING,
        /** By its lifetime. */
        MORTAL,
        /** By eviction. */
        LIMITED
    }

    /** Tolerance for millisecond rounding and clock corrections. */
    private static final long SLACK_MS = 100;

    private final Kind kind;
    /** Number of the cache, contained in its keys and values. */
    private final int cache;

    private final AtomicLongArray begun;
    private final AtomicLongArray settled;
    private final AtomicLongArray gone;
    private final AtomicLongArray begunMs;
    private final AtomicLongArray settledMs;

    SoakModel(Kind kind, int cache, int keys) {
        this.kind = kind;
        this.cache = cache;
        this.begun = new AtomicLongArray(keys);
        this.settled = new AtomicLongArray(keys);
        this.gone = new AtomicLongArray(keys);
        this.begunMs = new AtomicLongArray(keys);
        this.settledMs = new AtomicLongArray(keys);
    }

    Kind kind() {
        return kind;
    }

    int keys() {
        return begun.length();
    }

    boolean isRemoval(int key, long number) {
        return SoakValue.isRemoval(cache, key, number);
    }

    private long lifetimeMs(int key, long number) {
        return SoakValue.lifetimeMs(cache, key, number);
    }

    // --- the writer ---

    /** The number of the key's next operation. */
    long next(int key) {
        return settled.get(key) + 1;
    }

    void begins(int key, long number, long nowMs) {
        // In this order: if a reader reads a time and then the same operation number, the time belongs to that
        // operation.
        begun.set(key, number);
        begunMs.set(key, nowMs);
    }

    /** Reports that the operation has taken effect. */
    void settles(int key, long number, long nowMs) {
        settledMs.set(key, nowMs);
        settled.set(key, number);
    }

    /** Reports that the operation has not taken effect, and never will. */
    void refused(int key, long formerBegunMs) {
        begunMs.set(key, formerBegunMs);
        begun.set(key, settled.get(key));
    }

    long begunMs(int key) {
        return begunMs.get(key);
    }

    /** Whether the key must hold an object, as seen by the writer with no operation in progress; null: either. */
    @Nullable
    Boolean mustExist(int key) {
        final long number = settled.get(key);
        if (number == 0 || isRemoval(key, number)) {
            return false;
        }
        return kind == Kind.LASTING ? true : null;
    }

    // --- the reader ---

    /** State that a reader records before it reads. */
    record Before(long settled, long gone, long ms) {}

    Before before(int key, long nowMs) {
        return new Before(settled.get(key), gone.get(key), nowMs);
    }

    /** Why the value is not allowed, or null. */
    @Nullable
    String whyWrong(int key, Before before, byte[] value, int length) {
        final long last = begun.get(key);
        final long number = SoakValue.numberIn(cache, key, value, length);
        if (number < 0 || isRemoval(key, number)) {
            return "bytes that were never written to the key, " + length + " of them";
        }
        if (number < before.settled || number > last) {
            return "value " + number + ", although the last that had taken effect was " + before.settled
                    + " and the last that had begun " + last;
        }
        if (number <= before.gone) {
            return "value " + number + " is back, which was seen to be gone";
        }
        if (kind == Kind.MORTAL && number == before.settled) {
            final long latestMs = settledMs.get(key) + lifetimeMs(key, number) + SLACK_MS;
            if (settled.get(key) == number && before.ms > latestMs) {
                return "value " + number + " was read " + (before.ms - latestMs) + " ms after the end of its life";
            }
        }
        return null;
    }

    /** Why a missing object is not allowed, or null. */
    @Nullable
    String whyWrongAbsence(int key, Before before, long nowMs) {
        final long last = begun.get(key);
        for (long number = before.settled; number <= last; number++) {
            if (number == 0 || isRemoval(key, number)) {
                seenGone(key, before.settled, last);
                return null;
            }
        }
        switch (kind) {
            case LASTING -> {
                return "nothing, although the last that had taken effect was the put " + before.settled
                        + " and nothing was removed since";
            }
            case MORTAL -> {
                final long beganMs = begunMs.get(key);
                final long earliestMs = beganMs + lifetimeMs(key, last) - SLACK_MS;
                // Read the time again, for an operation that began and was refused in between.
                final boolean same = before.settled == last && begun.get(key) == last && begunMs.get(key) == beganMs;
                if (same && nowMs < earliestMs) {
                    return "nothing, " + (earliestMs - nowMs) + " ms before the life of value " + last + " can end";
                }
            }
            case LIMITED -> {
                // It may have been evicted at once.
            }
        }
        seenGone(key, before.settled, last);
        return null;
    }

    private void seenGone(int key, long settledBefore, long last) {
        if (settledBefore == last) {
            gone.accumulateAndGet(key, last, Math::max);
        }
    }
}
