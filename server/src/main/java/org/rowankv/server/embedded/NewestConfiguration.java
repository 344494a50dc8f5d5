package org.rowankv.server.embedded;

import org.rowankv.topology.Configuration;

/**
 * The configuration of an open store with the highest term of those that were stored. Two threads may each have stored one, and
 * arrive here in the other order. Thread-safe.
 */
final class NewestConfiguration {
    private volatile Configuration newest;

    NewestConfiguration(Configuration first) {
        this.newest = first;
    }

    Configuration get() {
        return newest;
    }

    /** Takes a stored configuration over, if its term is higher. */
    synchronized void adopt(Configuration stored) {
        if (stored.term() > newest.term()) {
            newest = stored;
        }
    }
}
