package org.rowankv.sim.device;

import java.io.IOException;

/** Thrown when the simulated disk has no space for a file. */
public final class DiskFullException extends IOException {
    private static final long serialVersionUID = 1L;

    public DiskFullException() {
        super("no space is left on the simulated disk");
    }
}
