package org.rowankv.server.opening;

/** Learns which shards come to this server and leave it. Called by an agent, so it must not block. */
@FunctionalInterface
public interface OpeningListener {
    /**
     * This server serves the shard as its primary from now on.
     *
     * @param epoch of the shard for which it was opened
     */
    void opened(int shard, int epoch);

    /** This server has handed the shard over. */
    default void left(int shard) {}

    /** Does the same whichever shard comes or leaves. */
    static OpeningListener whenever(Runnable action) {
        return new OpeningListener() {
            @Override
            public void opened(int shard, int epoch) {
                action.run();
            }

            @Override
            public void left(int shard) {
                action.run();
            }
        };
    }
}
