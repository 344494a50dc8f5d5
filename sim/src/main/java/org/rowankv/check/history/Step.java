package org.rowankv.check.history;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An operation as a transition of a register that holds one value id: the states that accept it, and its resulting
 * state.
 *
 * @param event index of the operation in its history
 * @param accepts the states in which it can be taken; null: every state
 * @param sets the resulting state, or {@link #UNCHANGED}
 * @param version the version it made, which orders it among those that made one; 0 if it made none or none is known
 * @param optional whether it may also never be taken (its outcome is unknown)
 * @param returnedNs {@code Long.MAX_VALUE} when optional
 */
record Step(
        int event,
        @Nullable Set<Long> accepts,
        long sets,
        long version,
        boolean optional,
        long invokedNs,
        long returnedNs) {
    static final long UNCHANGED = -1;

    static Step certain(int event, @Nullable Set<Long> accepts, long sets, Event times) {
        final long version = sets == UNCHANGED || !times.action().makesVersion() ? 0 : times.version();
        return new Step(event, accepts, sets, version, false, times.invokedNs(), times.returnedNs());
    }

    static Step possible(int event, @Nullable Set<Long> accepts, long sets, Event times) {
        return new Step(event, accepts, sets, 0, true, times.invokedNs(), Long.MAX_VALUE);
    }

    boolean canBeTakenIn(long state) {
        return accepts == null || accepts.contains(state);
    }

    long after(long state) {
        return sets == UNCHANGED ? state : sets;
    }

    boolean changes() {
        return sets != UNCHANGED;
    }

    /** The same operation in a history that ends before it returned. */
    Step cutOff() {
        return new Step(event, accepts, sets, 0, true, invokedNs, Long.MAX_VALUE);
    }

    /** The same operation in a history that begins after its invocation: it may have been taken before. */
    Step cutOn() {
        return new Step(event, accepts, sets, 0, true, Long.MIN_VALUE, Long.MAX_VALUE);
    }
}
