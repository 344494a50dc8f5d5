package org.rowankv.server.cluster;

import org.rowankv.runtime.Clock;
import org.slf4j.Logger;

/**
 * Logs what a server waits for: a line at the begin and at the end of a wait, and in between with exponentially growing
 * intervals. Owned by the thread of the {@link ClusterServer}; {@link #text} is thread-safe.
 */
final class WaitLog {
    private static final long SAY_EVERY_NS = 5_000_000_000L;
    private static final long SAY_AT_LEAST_EVERY_NS = 300_000_000_000L;
    private static final long NS_PER_S = 1_000_000_000;

    private final Logger log;
    private final String server;
    private final Clock clock;
    private volatile String text = "";
    /** Empty while the server does not wait. */
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

    /** The present wait or the failure; empty if there is none. */
    String text() {
        return text;
    }

    /** Sets the text without logging. */
    void set(String newText) {
        text = newText;
    }

    /**
     * Reports a wait.
     *
     * @param what state of the wait; a change is logged at once
     * @param detail may change within the state
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

    /** Reports a wait, or that it is over if there is none. */
    void follow(String what) {
        if (what.isEmpty()) {
            goesOn();
        } else {
            waits(what, "");
        }
    }

    /** The wait is over. */
    void goesOn() {
        text = "";
        if (!state.isEmpty()) {
            log.info("server {}: over after {} s: {}", server, (clock.nanoTime() - sinceNs) / NS_PER_S, state);
            state = "";
        }
    }
}
