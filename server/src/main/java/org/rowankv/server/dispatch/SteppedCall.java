package org.rowankv.server.dispatch;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.server.engine.Server;
import org.rowankv.server.shard.ShardPrimary;

/**
 * A request in the hands of somebody who turns it step by step and does other things in between, where {@link
 * Server#call} would wait. One request at a time; for one thread at a time.
 */
public final class SteppedCall {
    private static final int WAITS_BEFORE_HELP = 8;

    private final RequestDispatch dispatch;
    private final MutationPlaces places;
    private final Request request;
    private @Nullable ShardPrimary primary;
    private int place = MutationPlaces.NONE;
    private boolean begun;
    private int waits;

    public SteppedCall(RequestDispatch dispatch, MutationPlaces places, Request request) {
        this.dispatch = dispatch;
        this.places = places;
        this.request = request;
    }

    /** Begins anew with what is in the request now. The request before was answered. */
    public void again() {
        if (place >= 0) {
            throw new IllegalStateException("the request before was not answered");
        }
        primary = null;
        begun = false;
        waits = 0;
    }

    /**
     * Instead of further steps: gives the worker context back, else the server could never be closed. What is begun is finished
     * by whoever borrows that context next, or by a start.
     */
    public void abandon() {
        if (place >= 0) {
            places.giveBack(place);
            place = MutationPlaces.NONE;
        }
    }

    /** Whether the request has got no further than to want a worker context, none of which was free. */
    public boolean awaitsWorker() {
        return place < 0;
    }

    /**
     * Does what can be done now; true when the request is answered. What an error leaves unfinished, somebody else's
     * request finishes, as with {@link Server#call}.
     */
    public boolean step() {
        boolean goesOn = false;
        try {
            goesOn = !advance();
            if (goesOn && ++waits == WAITS_BEFORE_HELP) {
                waits = 0;
                goesOn = false; // should an error strike here
                places.help();
                goesOn = true;
            }
            return !goesOn;
        } finally {
            if (!goesOn && place >= 0) {
                places.giveBack(place);
                place = MutationPlaces.NONE;
            }
        }
    }

    private boolean advance() {
        if (place < 0) {
            if (primary == null) {
                primary = dispatch.primaryFor(request);
                if (primary == null) {
                    return true;
                }
            }
            place = places.tryBorrow(request);
            if (place < 0) {
                return place == MutationPlaces.ANSWERED;
            }
        }
        if (!begun) {
            begun = places.begin(place, primary, request);
            if (!begun) {
                return false;
            }
        }
        return places.advance(place);
    }
}
