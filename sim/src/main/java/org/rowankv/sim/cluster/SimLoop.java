package org.rowankv.sim.cluster;

import org.rowankv.protocol.Request;
import org.rowankv.server.dispatch.LoopCalls;
import org.rowankv.server.dispatch.SteppedCall;

/** An event loop of a simulated server process: its requests share worker contexts, and one of them is stepped at a time. */
final class SimLoop {
    private final LoopCalls calls;
    private boolean turning;

    SimLoop(LoopCalls calls) {
        this.calls = calls;
    }

    SteppedCall callOf(Request request) {
        return calls.callOf(request);
    }

    /** Whether it stands in the middle of a step: its thread does nothing else then. */
    boolean isTurning() {
        return turning;
    }

    /** A turn in which one request goes on; true when it is answered. */
    boolean turn(SteppedCall call) {
        turning = true;
        try {
            calls.turn();
            final boolean answered = call.step();
            calls.turn();
            return answered;
        } finally {
            turning = false;
        }
    }

    /** The loop helps those that its requests may be waiting for. */
    void help() {
        calls.help();
    }
}
