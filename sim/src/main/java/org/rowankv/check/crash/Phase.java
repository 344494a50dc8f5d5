package org.rowankv.check.crash;

/** How far the child has come. */
enum Phase {
    STARTING,
    /** The store is open. */
    OPENED,
    /** What the store holds has been written to the file of observed states. */
    OBSERVED,
    /** Threads put, remove and update. */
    LOADING,
    /** The load is over, the store is being closed. */
    CLOSING,
    CLOSED
}
