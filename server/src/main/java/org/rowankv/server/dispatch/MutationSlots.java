package org.rowankv.server.dispatch;

import org.rowankv.protocol.Request;
import org.rowankv.server.shard.ShardPrimary;

/** Slots in worker contexts, one per mutation in flight, as acquired by callers that poll their requests. */
interface MutationSlots {
    /** No slot is free for that request. */
    int NONE = -1;

    /** No slot is needed: the request is answered. */
    int ANSWERED = -2;

    /** Acquires a slot for the request: ≥ 0, or {@link #NONE} or {@link #ANSWERED}. */
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
