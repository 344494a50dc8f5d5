package org.rowankv.sim.cluster;

import org.rowankv.protocol.Request;
import org.rowankv.server.dispatch.MutationPipeline;
import org.rowankv.server.dispatch.PollableCall;

/** An event loop of a simulated server process: its requests share worker contexts, and run one step at a time. */
final class SimLoop {
    private final MutationPipeline calls;
    private boolean polling;

    SimLoop(MutationPipeline calls) {
        this.calls = calls;
    }

    PollableCall callOf(Request request) {
        return calls.callOf(request);
    }

    /** Whether it is in the middle of a step: its thread does nothing else then. */
    boolean isPolling() {
        return polling;
    }

    /** Runs one step of a request; true when it has its reply. */
    boolean poll(PollableCall call) {
        polling = true;
        try {
            calls.poll();
            final boolean answered = call.step();
            calls.poll();
            return answered;
        } finally {
            polling = false;
        }
    }

    /** Runs agents that its requests may be waiting for. */
    void help() {
        calls.help();
    }
}
