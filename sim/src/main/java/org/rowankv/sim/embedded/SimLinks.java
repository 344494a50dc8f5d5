package org.rowankv.sim.embedded;

import org.rowankv.sim.Timeline;

/**
 * The cut or slow links between nodes, each in one direction. Clients are one node, after the servers. Confined to the
 * thread of its simulation.
 */
final class SimLinks {
    private final Timeline timeline;
    private final int clients;
    private final long[][] cutUntilNs;
    private final long[][] slowUntilNs;
    private boolean everCut;

    SimLinks(Timeline timeline, int servers) {
        this.timeline = timeline;
        this.clients = servers;
        this.cutUntilNs = new long[servers + 1][servers + 1];
        this.slowUntilNs = new long[servers + 1][servers + 1];
    }

    /** The node that stands for all clients. */
    int clients() {
        return clients;
    }

    /** Messages sent from now on do not arrive for a while; the opposite direction is unaffected. */
    void cut(int from, int to, long ns) {
        everCut = true;
        cutUntilNs[from][to] = timeline.nowNs() + ns;
    }

    /** A connection will be refused, for another reason. */
    void noteCut() {
        everCut = true;
    }

    void slow(int from, int to, long ns) {
        slowUntilNs[from][to] = timeline.nowNs() + ns;
    }

    boolean isCut(int from, int to) {
        return timeline.nowNs() < cutUntilNs[from][to];
    }

    boolean isSlow(int from, int to) {
        return timeline.nowNs() < slowUntilNs[from][to];
    }

    /** Whether servers may have had reason to report that they could not connect. */
    boolean wereEverCut() {
        return everCut;
    }
}
