package org.rowankv.driver.net;

/** What a connection needs of its session's routing. Thread-safe; never blocks. */
interface SessionRoutes {
    /** Handles a routing update. */
    void onRouting(byte[] bytes);

    /** Of the newest configuration; 0 before the first. */
    default long term() {
        return 0;
    }

    /**
     * Whether the request is no longer this server's, by a newer configuration.
     *
     * @param shard of the request, or {@link ControlRequest#SERVER} or {@link ControlRequest#CONFIGURATION}
     * @param term that it was routed by
     */
    default boolean hasLeft(int shard, long term) {
        return false;
    }

    /** The server has left requests unanswered for {@link NetSettings#silenceNs}. */
    default void onSilence() {}
}
