package org.rowankv.check.history;

/** An operation as its caller saw it, in human-readable form. */
interface ReportedOperation {
    int caller();

    Outcome outcome();

    long invokedNs();

    long returnedNs();

    /** The operation and its arguments. */
    String question();

    String answer();
}
