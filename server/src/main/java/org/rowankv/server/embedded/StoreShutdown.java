package org.rowankv.server.embedded;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.server.area.LostAreaException;

/**
 * Why an open store serves no more, and how it is closed because of that. Failures of several kinds may meet, in any order;
 * none makes another forgotten. Thread-safe.
 */
final class StoreShutdown {
    /** How a store is closed. */
    enum CloseSequence {
        /** All that was begun may end; what is whole is marked as closed cleanly. */
        CLEAN,
        /** As after a crash of the process: what an agent has left half done is not to be believed, only the log is. */
        AS_AFTER_A_CRASH,
        /** Memory is lost: nothing is read from it or written to it. */
        UNTOUCHED
    }

    private @Nullable IllegalStateException reason;
    private boolean agentStopped;
    private boolean areaLost;

    /** One more failure; returns the one that callers get from now on: the first, or that an area is lost. */
    synchronized IllegalStateException add(IllegalStateException failure) {
        agentStopped |= failure instanceof AgentStoppedException;
        final boolean isFirstLoss = failure instanceof LostAreaException && !areaLost;
        areaLost |= isFirstLoss;
        final IllegalStateException before = reason;
        final IllegalStateException now = before == null || isFirstLoss ? failure : before;
        reason = now;
        return now;
    }

    /** What callers get; null while nothing has failed. */
    synchronized @Nullable IllegalStateException reason() {
        return reason;
    }

    /** By what has failed so far: asked again once every agent has ended. */
    synchronized CloseSequence closing() {
        if (areaLost) {
            return CloseSequence.UNTOUCHED;
        }
        return agentStopped ? CloseSequence.AS_AFTER_A_CRASH : CloseSequence.CLEAN;
    }
}
