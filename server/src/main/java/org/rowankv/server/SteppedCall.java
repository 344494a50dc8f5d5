package org.rowankv.server;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.server.request.ShardPrimary;
import org.rowankv.server.request.Worker;

/**
 * A request in the hands of somebody who turns it step by step and does other things in between, where {@link
 * Server#call} would wait. One request at a time; for one thread at a time.
 */
public final class SteppedCall {
    private static final int WAITS_BEFORE_HELP = 8;

    private final RequestDispatch dispatch;
    private final Request request;
    private @Nullable ShardPrimary primary;
    private int slot = -1;
    private boolean begun;
    private int waits;

    SteppedCall(RequestDispatch dispatch, Request request) {
        this.dispatch = dispatch;
        this.request = request;
    }

    /** Begins anew with what is in the request now. The request before was answered. */
    public void again() {
        if (slot >= 0) {
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
        if (slot >= 0) {
            dispatch.giveBack(slot);
            slot = -1;
        }
    }

    /** Whether the request has got no further than to want a worker context, none of which was free. */
    public boolean awaitsWorker() {
        return slot < 0;
    }

    /**
     * Does what can be done now; true when the request is answered. What an error leaves unfinished, somebody else's
     * request finishes, as with {@link Server#call}.
     */
    public boolean step() {
        boolean goesOn = false;
        try {
            goesOn = !advance();
            if (goesOn && ++waits % WAITS_BEFORE_HELP == 0) {
                goesOn = false; // should an error strike here
                dispatch.helpOthers();
                goesOn = true;
            }
            return !goesOn;
        } finally {
            if (!goesOn && slot >= 0) {
                dispatch.giveBack(slot);
                slot = -1;
            }
        }
    }

    private boolean advance() {
        if (slot < 0) {
            if (primary == null) {
                primary = dispatch.primaryFor(request);
                if (primary == null) {
                    return true;
                }
            }
            slot = dispatch.tryBorrow(request);
            if (slot < 0) {
                return slot == RequestDispatch.CLOSED_SLOT;
            }
        }
        return advanceIn(slot, primary);
    }

    private boolean advanceIn(int borrowed, @Nullable ShardPrimary shardPrimary) {
        final Worker worker = dispatch.worker(borrowed);
        if (!begun) {
            if (shardPrimary == null || !worker.finishLeftover()) {
                return false;
            }
            worker.begin(shardPrimary, request);
            begun = true;
        }
        return worker.advance();
    }
}
