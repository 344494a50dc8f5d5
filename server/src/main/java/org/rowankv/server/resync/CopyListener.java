package org.rowankv.server.resync;

/** Told of the progress of copies to joining replicas. By the agents of the servers; must not block for long. */
public interface CopyListener {
    /**
     * A shard's copy will take so many bytes of log space: they are taken there now, without asking, since they were asked
     * for when the entries were first written.
     *
     * @param server the joining one
     */
    void announced(int shard, int server, long bytes);

    /**
     * Everything of a shard that was written before a joining server came has landed in that server's backup log.
     *
     * @param server the joining one
     * @param unused bytes of what was announced that were not needed
     */
    void copied(int shard, int server, long unused);

    /**
     * All copies to a joining server have taken effect there: its replicas are complete.
     *
     * @return false if that could not be noted just now: it is to be told again
     */
    boolean joined(int server);
}
