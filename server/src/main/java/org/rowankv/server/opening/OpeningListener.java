package org.rowankv.server.opening;

/** Learns that a shard is open. Called by an agent, so it must not block. */
@FunctionalInterface
public interface OpeningListener {
    /**
     * This server serves the shard as its primary from now on.
     *
     * @param epoch of the shard for which it was opened
     */
    void opened(int shard, int epoch);
}
