package org.rowankv.server.cluster;

import org.rowankv.runtime.Clock;
import org.slf4j.Logger;

/**
 * Logs what a server waits for: a line when the wait begins, a line when it is over, and in between ever fewer, with how long it
 * has lasted. Owned by the thread of the {@link ClusterServer}; {@link #text} for any thread.
 */
final class WaitLog {
    private static final long SAY_EVERY_NS = 5_000_000_000L;
    private static final long SAY_AT_LEAST_EVERY_NS = 300_000_000_000L;
    private static final long NS_PER_S = 1_000_000_000;

    private final Logger log;
    private final String server;
    private final Clock clock;
    private volatile String text = "";
    /** Empty while it waits for nothing. */
    private String state = "";

    private long sinceNs;
    private long saidNs;
    private long sayAgainNs;

    /** @param server its name */
    WaitLog(Logger log, String server, Clock clock) {
        this.log = log;
        this.server = server;
        this.clock = clock;
    }

    /** What it waits for now, or why it failed; empty if all is well. */
    String text() {
        return text;
    }

    /** Without a line in the log. */
    void set(String newText) {
        text = newText;
    }

    /**
     * The server waits.
     *
     * @param what a state: another one is logged at once
     * @param detail may change while the state lasts
     */
    void waits(String what, String detail) {
        final long nowNs = clock.nanoTime();
        text = what + detail;
        if (!what.equals(state)) {
            state = what;
            sinceNs = nowNs;
            saidNs = nowNs;
            sayAgainNs = SAY_EVERY_NS;
            log.info("server {}: {}{}", server, what, detail);
        } else if (nowNs - saidNs >= sayAgainNs) {
            saidNs = nowNs;
            sayAgainNs = Math.min(2 * sayAgainNs, SAY_AT_LEAST_EVERY_NS);
            log.info("server {}: for {} s: {}{}", server, (nowNs - sinceNs) / NS_PER_S, what, detail);
        }
    }

    /** It waits for nothing any more. */
    void goesOn() {
        text = "";
        if (!state.isEmpty()) {
            log.info("server {}: over after {} s: {}", server, (clock.nanoTime() - sinceNs) / NS_PER_S, state);
            state = "";
        }
    }
}
