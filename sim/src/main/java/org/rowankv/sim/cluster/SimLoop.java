package org.rowankv.sim.cluster;

import org.rowankv.protocol.Request;
import org.rowankv.server.dispatch.MutationPipeline;
import org.rowankv.server.dispatch.PollableCall;

/** An event loop of a simulated server process: its requests share worker contexts, and run one step at a time. */
final class SimLoop {
    private final MutationPipeline calls;
    private boolean turning;

    SimLoop(MutationPipeline calls) {
        this.calls = calls;
    }

    PollableCall callOf(Request request) {
        return calls.callOf(request);
    }

    /** Whether it is in the middle of a step: its thread does nothing else then. */
    boolean isTurning() {
        return turning;
    }

    /** Runs one step of a request; true when it has its reply. */
    boolean turn(PollableCall call) {
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

    /** Runs agents that its requests may be waiting for. */
    void help() {
        calls.help();
    }
}
