package org.rowankv.server.dispatch;

import org.rowankv.protocol.Request;
import org.rowankv.server.shard.ShardPrimary;

/** Slots in worker contexts, one per mutation in flight, as acquired by callers that poll their requests. */
interface MutationSlots {
    /** No slot is free. */
    int NONE = -1;

    /** No slot is needed: the request is answered. */
    int ANSWERED = -2;

    /** As {@link #NONE}, but only for requests with that backup, which has its share of the slots. */
    static int waitsFor(int backup) {
        return ANSWERED - 1 - backup;
    }

    /** The argument of {@link #waitsFor}; −1: a result of another kind. */
    static int backupOf(int result) {
        return result < ANSWERED ? ANSWERED - 1 - result : -1;
    }

    /** Acquires a slot for the request: ≥ 0, or {@link #NONE}, {@link #ANSWERED} or {@link #waitsFor}. */
    int tryAcquire(Request request);

    /** Releases a slot; other threads complete an unfinished mutation in it. */
    void release(int slot);

    /** Begins the request; false while an abandoned mutation in the slot is incomplete. */
    boolean begin(int slot, ShardPrimary primary, Request request);

    /** Does what is possible now; true when the request is answered. */
    boolean advance(int slot);

    /**
     * Called after several steps of a call without progress. By default nothing: a loop helps the agents for all its
     * calls together.
     */
    default void onStall() {}
}
