package org.rowankv.sim.verbs;

/** What simulated devices need of their simulation: time, links between hosts, and a place for what happens. */
public interface VerbsLinks {

    long nowNs();

    /** Arrival time of what host {@code from} sends to host {@code to} now. */
    long arrivalNs(int from, int to);

    /** Runs it at that time, whichever processes are paused: a device needs none of their threads. */
    void at(long ns, Runnable what);

    /** Runs what is due, unless a scheduler does. Called while a device is polled. */
    default void runDue() {}

    /** Bytes of a WRITE that arrive together, at most all of them. */
    int together(int bytes);

    /** Counts an event. */
    void count(String event);

    /** Reports what no correct server does to a device, and ends the run. */
    void violation(String what);
}
