package org.rowankv.sim.service;

/** What a service needs of the simulation that it belongs to. */
public interface Scene {
    long nowNs();

    /** A promise was broken: ends the run. */
    void violation(String what);

    /** What only damage explains: a violation unless a bit has flipped. */
    void requireDamage(String what);

    void count(String what, long times);

    /** Adds to the trace, which two runs of one seed must share. */
    void mix(long value);

    /** Whether the trace is read as words. */
    boolean isRead();

    void tell(String words);

    /** When a service is ready may be another time now: outside of its own turns. */
    void changed(Service service);

    /** Others go on for a while. */
    void park(long ns);
}
