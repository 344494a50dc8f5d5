package org.rowankv.sim;

/** The one time of a simulation, which only its scheduler moves. */
public final class Timeline {
    private long nowNs = 1;

    public long nowNs() {
        return nowNs;
    }

    public void advance(long ns) {
        nowNs += Math.max(1, ns);
    }

    public void advanceTo(long ns) {
        nowNs = Math.max(nowNs + 1, ns);
    }
}
