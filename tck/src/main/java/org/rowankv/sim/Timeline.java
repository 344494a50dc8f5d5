package org.rowankv.sim;

/** The one time of a simulation, which only its scheduler moves. */
final class Timeline {
    private long nowNs = 1;

    long nowNs() {
        return nowNs;
    }

    void advance(long ns) {
        nowNs += Math.max(1, ns);
    }

    void advanceTo(long ns) {
        nowNs = Math.max(nowNs + 1, ns);
    }
}
