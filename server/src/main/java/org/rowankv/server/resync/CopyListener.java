package org.rowankv.server.resync;

/**
 * Receives the progress of copies to replicas that are catching up. Called by the servers' agents; must not block for
 * long.
 */
public interface CopyListener {
    /**
     * A shard's copy will take so many bytes of log space. They are taken there now, unconditionally, since they were
     * acquired when the entries were first written.
     *
     * @param server that is catching up
     */
    void announced(int shard, int server, long bytes);

    /**
     * Everything of a shard from before the tenure of a server that is catching up has landed in that server's backup
     * log.
     *
     * @param server that is catching up
     * @param unused announced bytes that were not needed
     */
    void copied(int shard, int server, long unused);

    /**
     * All copies to a server that is catching up have taken effect there: its replicas are in sync.
     *
     * @return false if that could not be stored now: the caller must repeat the call
     */
    boolean joined(int server);
}
