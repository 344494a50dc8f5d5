package org.rowankv.sim;

import org.rowankv.sim.service.Service;

/** The task that runs a service in steps, like a client. */
public final class ServiceTask extends Task {
    private final SeedRun run;
    private final Service service;

    ServiceTask(SeedRun run, Service service) {
        this.run = run;
        this.service = service;
    }

    @Override
    public long readyAtNs() {
        return service.readyAtNs();
    }

    /** Whether a step waits for other tasks. */
    public boolean blocks() {
        return service.blocks();
    }

    @Override
    public void step() {
        try {
            service.step();
        } catch (CallerDeath e) {
            // A new thread replaces it.
            run.eventCounters().count("callers' threads that waited died");
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
