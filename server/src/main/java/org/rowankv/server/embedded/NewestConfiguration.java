package org.rowankv.server.embedded;

import org.rowankv.topology.Configuration;

/**
 * The stored configuration with the highest term. Two threads may store configurations and report them here in reverse
 * order. Thread-safe.
 */
final class NewestConfiguration {
    private volatile Configuration newest;

    NewestConfiguration(Configuration first) {
        this.newest = first;
    }

    Configuration get() {
        return newest;
    }

    /** Adopts a stored configuration if its term is higher. */
    synchronized void adopt(Configuration stored) {
        if (stored.term() > newest.term()) {
            newest = stored;
        }
    }
}
