package org.rowankv.sim;

import org.rowankv.sim.service.Service;

/** A service gets turns as a client does. */
final class ServiceTask extends Task {
    private final Service service;

    ServiceTask(Service service) {
        this.service = service;
    }

    @Override
    long readyAtNs() {
        return service.readyAtNs();
    }

    @Override
    void step() {
        service.step();
    }

    @Override
    boolean isCaller() {
        return false;
    }

    @Override
    public String toString() {
        return service.toString();
    }
}
