package org.rowankv.driver.api;

/** Somebody hears of the changes of a cache, until this is closed. Thread-safe. */
public interface ChangeSubscription extends AutoCloseable {
    /** What was told so far: a stream that is begun there tells what comes after it, or that it is lost. */
    StreamPosition position();

    /** How often changes were lost, each time of one shard. */
    long timesLost();

    /** No call of the listener begins after this returns, except from within a listener. Idempotent. */
    @Override
    void close();
}
