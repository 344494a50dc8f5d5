package org.rowankv.sim.embedded;

import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;

/**
 * The clients' session with the store, whichever incarnation is up. Checked attempts go through the network in steps; a
 * direct call here runs to its end, with all other tasks running meanwhile.
 */
final class SimSession implements ForwardingSession {
    private final EmbeddedSimulation simulation;

    SimSession(EmbeddedSimulation simulation) {
        this.simulation = simulation;
    }

    /** The session of the current incarnation. */
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
    public boolean needsRequestIds() {
        return true;
    }
}
