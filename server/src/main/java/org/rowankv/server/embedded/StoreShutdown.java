package org.rowankv.server.embedded;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.server.area.LostAreaException;

/**
 * Why an open store has stopped serving, and how it is to be closed. Several failures may occur, in any order; each is
 * taken into account. Thread-safe.
 */
final class StoreShutdown {
    /** How a store is closed. */
    enum CloseMode {
        /** All work may complete; intact areas are marked as closed cleanly. */
        CLEAN,
        /** As after a crash of the process: a stopped agent's partial work is unreliable, only the log counts. */
        AS_AFTER_A_CRASH,
        /** Memory is lost: it is neither read nor written. */
        UNTOUCHED
    }

    private @Nullable IllegalStateException reason;
    private boolean agentStopped;
    private boolean areaLost;

    /** Adds a failure; returns the one for callers from now on: the first, or the loss of an area. */
    synchronized IllegalStateException add(IllegalStateException failure) {
        agentStopped |= failure instanceof AgentStoppedException;
        final boolean isFirstLoss = failure instanceof LostAreaException && !areaLost;
        areaLost |= isFirstLoss;
        final IllegalStateException before = reason;
        final IllegalStateException now = before == null || isFirstLoss ? failure : before;
        reason = now;
        return now;
    }

    /** The exception for callers; null while nothing has failed. */
    synchronized @Nullable IllegalStateException reason() {
        return reason;
    }

    /** According to the failures so far; evaluate again once every agent has ended. */
    synchronized CloseMode closing() {
        if (areaLost) {
            return CloseMode.UNTOUCHED;
        }
        return agentStopped ? CloseMode.AS_AFTER_A_CRASH : CloseMode.CLEAN;
    }
}
