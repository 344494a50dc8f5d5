package org.rowankv.server.request;

/** What a worker that finds no room asks of the servers around it. */
public interface SpacePressure {
    /** Somebody waits for free segments or space on that server. */
    void wakeUp(int server);

    /** Somebody has no space on that server, beyond what cleaning can do about segments. */
    void requestSpace(int server);

    /**
     * Whether there may be objects, anywhere, that had expired when somebody wanted space then and are yet to be ended:
     * their space may be the one that is lacking, since any server may be the backup of any other.
     *
     * @param sinceNs when it was wanted, by the clock's nanoTime
     */
    boolean isExpiring(long sinceNs);

    /**
     * How often that server's agents have found nothing left to do that gives space back (digest, sweep, tombstones). Two
     * more than before: such a turn began and ended in between.
     */
    long quietCycles(int server);
}
