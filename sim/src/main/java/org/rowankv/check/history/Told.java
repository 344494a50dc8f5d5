package org.rowankv.check.history;

/** An operation as its caller saw it, for people. */
interface Told {
    int caller();

    Outcome outcome();

    long invokedNs();

    long returnedNs();

    /** What was asked. */
    String question();

    /** What was answered. */
    String answer();
}
