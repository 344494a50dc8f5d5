package org.rowankv.server.dispatch;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.server.shard.ShardPrimary;

/**
 * A request that a server carries in a worker context, which the call borrows when it needs one. What an error leaves unfinished
 * there, the next borrower of the context finishes.
 */
final class WorkerCall implements PollableCall {
    private static final int WAITS_BEFORE_HELP = 8;

    private final RequestDispatch dispatch;
    private final MutationSlots places;
    private final Request request;
    private @Nullable ShardPrimary primary;
    private int place = MutationSlots.NONE;
    private boolean begun;
    private int waits;

    WorkerCall(RequestDispatch dispatch, MutationSlots places, Request request) {
        this.dispatch = dispatch;
        this.places = places;
        this.request = request;
    }

    @Override
    public void again() {
        if (place >= 0) {
            throw new IllegalStateException("the request before was not answered");
        }
        primary = null;
        begun = false;
        waits = 0;
    }

    /** Else the server could never be closed. The next borrower of the context finishes what is begun, or a start does. */
    @Override
    public void abandon() {
        if (place >= 0) {
            places.giveBack(place);
            place = MutationSlots.NONE;
        }
    }

    @Override
    public boolean awaitsWorker() {
        return place < 0;
    }

    @Override
    public boolean step() {
        boolean goesOn = false;
        try {
            goesOn = !advance();
            if (goesOn && ++waits == WAITS_BEFORE_HELP) {
                waits = 0;
                goesOn = false; // should an error strike here
                places.onStall();
                goesOn = true;
            }
            return !goesOn;
        } finally {
            if (!goesOn && place >= 0) {
                places.giveBack(place);
                place = MutationSlots.NONE;
            }
        }
    }

    private boolean advance() {
        ShardPrimary served = primary;
        if (served == null) {
            served = dispatch.servedPrimary(request.shard());
            if (served == null) {
                dispatch.refuse(request);
                return true;
            }
            if (dispatch.answersRead(served, request)) {
                return true;
            }
            primary = served;
        }
        if (place < 0) {
            place = places.tryBorrow(request);
            if (place < 0) {
                return place == MutationSlots.ANSWERED;
            }
        }
        if (!begun) {
            begun = places.begin(place, served, request);
            if (!begun) {
                return false;
            }
        }
        return places.advance(place);
    }
}
