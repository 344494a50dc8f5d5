package org.rowankv.server.dispatch;

import org.rowankv.protocol.Request;
import org.rowankv.server.shard.ShardPrimary;

/** Places in worker contexts, each for one mutation under way, as who turns requests step by step borrows them. */
interface MutationSlots {
    /** None is free. */
    int NONE = -1;

    /** None is needed: the request was answered instead. */
    int ANSWERED = -2;

    /** A place for the request, ≥ 0, or {@link #NONE}, or {@link #ANSWERED}. */
    int tryBorrow(Request request);

    /** What is unfinished there is finished by others. */
    void giveBack(int place);

    /** Begins; false when what somebody has left there must end first. */
    boolean begin(int place, ShardPrimary primary, Request request);

    /** Does what can be done now; true when the request is answered. */
    boolean advance(int place);

    /** A call made no progress in several steps. By default nothing: a loop helps the agents for all its calls together. */
    default void onStall() {}
}
