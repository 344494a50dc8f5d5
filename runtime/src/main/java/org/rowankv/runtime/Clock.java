package org.rowankv.runtime;

/** A source of time. Safe for any thread; an agent reads it once per duty cycle and passes the value down. */
public interface Clock {

    /** Monotonic time from an arbitrary origin; it may stop while the machine sleeps. */
    long nanoTime();

    /** Wall-clock milliseconds since 1970; it may jump in either direction. */
    long wallMs();
}
