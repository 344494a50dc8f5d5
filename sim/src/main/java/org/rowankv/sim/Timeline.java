package org.rowankv.sim;

/** The simulated time, which only its scheduler advances. */
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
