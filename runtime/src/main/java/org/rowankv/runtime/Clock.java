package org.rowankv.runtime;

/** Where time comes from. For any thread; agents read it once per turn and hand it down. */
public interface Clock {

    /** Monotonic, from an arbitrary origin; it may stand still while the machine sleeps. */
    long nanoTime();

    /** Milliseconds since 1970; it may jump either way. */
    long wallMs();
}
