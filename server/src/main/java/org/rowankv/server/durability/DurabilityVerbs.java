package org.rowankv.server.durability;

/**
 * The seam between bytes in memory and durable bytes. Bytes are read and written directly; only these verbs decide when
 * they count.
 *
 * <p>Guarantees: once {@link #drain} has returned, or {@link #request}'s ticket is forced, this thread's writes before
 * its preceding {@link #flush} calls survive what the {@link Durability} level in force covers.
 *
 * <p>Not guaranteed: that unflushed bytes are lost. Any subset of the aligned 8-byte words written since the last drain
 * may survive, in any order. Only an aligned 8-byte word is atomic.
 *
 * <p>Thread-safe; a drain covers the flushes of its own thread only.
 */
public interface DurabilityVerbs {
    /** Starts making a range durable. The range may cross chunks of the region. */
    void flush(long address, long length);

    /** Waits until every range that this thread flushed is durable. */
    void drain();

    /**
     * Begins a drain without waiting for its end.
     *
     * @return a ticket for {@link #isForced}; 0, which is always forced, if the drain has ended at once
     */
    default long request() {
        drain();
        return 0;
    }

    /** Whether everything that this thread flushed before it got the ticket is durable. Never waits. */
    default boolean isForced(long ticket) {
        return true;
    }
}
