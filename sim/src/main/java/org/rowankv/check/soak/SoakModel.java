package org.rowankv.check.soak;

import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * What the keys of one cache may hold at any moment. The operations on a key are numbered and made one after the other by
 * one writer, who says when each begins and when it has taken effect; what each of them is, {@link SoakValue} knows. So a
 * reader may find what any operation left, from the last that had taken effect when it began to the last that had begun when
 * it ended, and nothing else; and what was once seen to be gone must not be seen again.
 *
 * <p>Thread-safe; one writer per key.
 */
final class SoakModel {
    /** By which a value may end without anybody's operation. */
    enum Kind {
        /** None. */
        LASTING,
        /** Its lifetime. */
        MORTAL,
        /** Eviction. */
        LIMITED
    }

    /** What is lost by counting in milliseconds, and by a clock that is corrected. */
    private static final long SLACK_MS = 100;

    private final Kind kind;
    /** Number of the cache, which its keys and values tell. */
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

    /** The number of the operation that comes next. */
    long next(int key) {
        return settled.get(key) + 1;
    }

    void begins(int key, long number, long nowMs) {
        // In this order: who reads a time, and then that the operation is still the one he knows, has read its own
        // time.
        begun.set(key, number);
        begunMs.set(key, nowMs);
    }

    /** It has taken effect. */
    void settles(int key, long number, long nowMs) {
        settledMs.set(key, nowMs);
        settled.set(key, number);
    }

    /** It has not, and never will. */
    void refused(int key, long formerBegunMs) {
        begunMs.set(key, formerBegunMs);
        begun.set(key, settled.get(key));
    }

    long begunMs(int key) {
        return begunMs.get(key);
    }

    /** Whether the key must hold something, for the writer, who has nothing under way; null: either. */
    @Nullable
    Boolean mustExist(int key) {
        final long number = settled.get(key);
        if (number == 0 || isRemoval(key, number)) {
            return false;
        }
        return kind == Kind.LASTING ? true : null;
    }

    // --- the reader ---

    /** What a reader notes before it asks. */
    record Before(long settled, long gone, long ms) {}

    Before before(int key, long nowMs) {
        return new Before(settled.get(key), gone.get(key), nowMs);
    }

    /** Why the value cannot be there, or null. */
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

    /** Why there cannot be nothing, or null. */
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
                // The time once more, for an operation that began and was refused in between.
                final boolean same = before.settled == last && begun.get(key) == last && begunMs.get(key) == beganMs;
                if (same && nowMs < earliestMs) {
                    return "nothing, " + (earliestMs - nowMs) + " ms before the life of value " + last + " can end";
                }
            }
            case LIMITED -> {
                // It may have been evicted as soon as it was there.
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
