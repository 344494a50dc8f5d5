package org.rowankv.driver.api;

/** A subscription to the changes of a cache. Thread-safe. */
public interface ChangeSubscription extends AutoCloseable {
    /** Position of the last delivered change: a stream that starts here continues after it, or reports a loss. */
    StreamPosition position();

    /** Number of losses, each of one shard. */
    long timesLost();

    /** No call of the listener begins after this returns, unless a listener calls it. Idempotent. */
    @Override
    void close();
}
