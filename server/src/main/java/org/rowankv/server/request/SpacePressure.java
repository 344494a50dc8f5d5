package org.rowankv.server.request;

/** What a worker that finds no room asks of the servers around it. */
public interface SpacePressure {
    /** Somebody waits for free segments or space on that server. */
    void wakeUp(int server);

    /** Somebody has no space on that server, beyond what cleaning can do about segments. */
    void wantSpace(int server);

    /**
     * How often that server's agents have found nothing left to do that gives space back (digest, sweep, tombstones). Two
     * more than before: such a turn began and ended in between.
     */
    long settledTurns(int server);
}
