package org.rowankv.sim;

import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;

/**
 * What clients see of the store, whichever incarnation of it is up. Attempts that matter go through the network in steps;
 * what is called here is carried to its end, with everybody else going on meanwhile.
 */
final class SimSession implements ForwardingSession {
    private final Simulation simulation;

    SimSession(Simulation simulation) {
        this.simulation = simulation;
    }

    /** Of the incarnation that is up. */
    @Override
    public Session below() {
        return simulation.store().cluster().session();
    }

    @Override
    public void call(Request request) {
        simulation.services().arrived(request);
        below().call(request);
        simulation.services().answered(request);
    }

    @Override
    public boolean mayLoseReplies() {
        return true;
    }
}
