package org.rowankv.check.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.Outcome;
import org.rowankv.runtime.SystemClock;

/**
 * Timed calls of the cache API for one caller; collects slow calls, and exceptions that no application should see.
 * Owned by the caller's thread.
 */
final class TimedCalls {
    /** Longer calls are collected as {@link LongCall}. */
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(9);

    interface Call<T> {
        T make();
    }

    /**
     * Result of a call.
     *
     * @param outcome DONE: it returned
     * @param value its return value
     */
    record Answer<T>(Outcome outcome, @Nullable T value, long invokedNs, long returnedNs) {}

    private final TimerLag lag;
    private final List<String> exceptions = new ArrayList<>();
    private final List<LongCall> longCalls = new ArrayList<>();

    TimedCalls(TimerLag lag) {
        this.lag = lag;
    }

    /**
     * Makes the call.
     *
     * @param name for reports
     * @param isRead whether it changes nothing
     * @param isCompound whether it reads before it changes something
     */
    <T> Answer<T> make(String name, boolean isRead, boolean isCompound, Call<T> call) {
        final long lagBeforeNs = lag.totalNs();
        final long invokedNs = SystemClock.INSTANCE.nanoTime();
        Outcome outcome = Outcome.DONE;
        @Nullable T value = null;
        try {
            value = call.make();
        } catch (RuntimeException failure) {
            final Outcome honest = HonestFailure.outcomeOf(failure, isRead || isCompound);
            if (honest == null) {
                exceptions.add(name + ": " + withCauses(failure));
            }
            outcome = honest != null ? honest : isRead ? Outcome.REFUSED : Outcome.UNKNOWN;
        }
        final long returnedNs = SystemClock.INSTANCE.nanoTime();
        if (returnedNs - invokedNs >= LONG_NS) {
            longCalls.add(new LongCall(
                    name.replace(' ', '-'), isCompound, invokedNs, returnedNs, lag.totalNs() - lagBeforeNs));
        }
        return new Answer<>(outcome, value, invokedNs, returnedNs);
    }

    private static String withCauses(Throwable failure) {
        final StringBuilder text = new StringBuilder(failure.toString());
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            text.append(", because of ").append(cause);
        }
        final StackTraceElement[] stack = failure.getStackTrace();
        return stack.length == 0
                ? text.toString()
                : text.append(", at ").append(stack[0]).toString();
    }

    /** Returns the exceptions since the last call, one line each. */
    List<String> takeExceptions() {
        final List<String> taken = List.copyOf(exceptions);
        exceptions.clear();
        return taken;
    }

    List<LongCall> takeLongCalls() {
        final List<LongCall> taken = List.copyOf(longCalls);
        longCalls.clear();
        return taken;
    }
}
