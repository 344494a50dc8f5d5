package org.rowankv.server.reconfiguration;

/** Told of the progress of copies to joining replicas. By the agents of the servers; must not block for long. */
public interface CopyListener {
    /**
     * Everything of a shard that was written before a joining server came has landed in that server's backup log.
     *
     * @param server the joining one
     */
    void copied(int shard, int server);

    /**
     * All copies to a joining server have taken effect there: its replicas are complete. May be told again when it failed.
     */
    void joined(int server);
}
