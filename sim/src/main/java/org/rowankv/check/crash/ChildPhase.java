package org.rowankv.check.crash;

/** Progress of the crash check's child, as its journal shows it. */
enum ChildPhase {
    STARTING,
    /** The store is open. */
    OPENED,
    /** The content of the store has been written to the file of observed states. */
    OBSERVED,
    /** Threads put, remove and update. */
    LOADING,
    /** The load has ended, the store is being closed. */
    CLOSING,
    CLOSED
}
