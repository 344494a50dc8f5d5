package org.rowankv.sim.embedded;

import org.rowankv.sim.CallerDeath;
import org.rowankv.sim.Task;
import org.rowankv.sim.service.Service;

/** The task that runs a service in steps, like a client. */
final class ServiceTask extends Task {
    private final Service service;
    private final Runnable died;

    /** @param died runs when an error has ended its thread; a new one replaces it */
    ServiceTask(Service service, Runnable died) {
        this.service = service;
        this.died = died;
    }

    @Override
    public long readyAtNs() {
        return service.readyAtNs();
    }

    /** Whether a step waits for other tasks. */
    boolean blocks() {
        return service.blocks();
    }

    @Override
    public void step() {
        try {
            service.step();
        } catch (CallerDeath e) {
            died.run();
        }
    }

    @Override
    public boolean isCaller() {
        return service.isCaller();
    }

    @Override
    public String toString() {
        return service.toString();
    }
}
