package org.rowankv.sim.service;

/** Callback interface of a service to its simulation. */
public interface Scene {
    long nowNs();

    /** Reports a broken guarantee: ends the run. */
    void violation(String what);

    /** Reports an effect that only damage explains: a violation unless a bit has flipped. */
    void requireDamage(String what);

    void count(String what, long times);

    /** Mixes a value into the trace, which two runs of one seed must share. */
    void mix(long value);

    /** Whether the textual trace is used. */
    boolean isRead();

    void tell(String words);

    /** The ready time of a service may have changed, outside of its own steps. */
    void changed(Service service);

    /** Parks: other tasks run for a while. */
    void park(long ns);
}
