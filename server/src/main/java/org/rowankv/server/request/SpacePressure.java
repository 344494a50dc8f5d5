package org.rowankv.server.request;

/** Requests for space to the servers, by a worker that lacks it. */
public interface SpacePressure {
    /** A worker waits for free segments or space on that server. */
    void wakeUp(int server);

    /** A worker lacks space on that server, beyond what cleaning segments can free. */
    void requestSpace(int server);

    /**
     * Whether objects may exist, anywhere, that had expired when space was requested and are not ended yet. Their space
     * may be the one that is lacking, since any server may be the backup of any other.
     *
     * @param sinceNs time of the request, by the clock's nanoTime
     */
    boolean isExpiring(long sinceNs);

    /**
     * The number of cycles in which that server's agents found nothing left that frees space (digest, sweep,
     * tombstones). An increase by two guarantees a cycle that began and ended in between.
     */
    long quietCycles(int server);
}
