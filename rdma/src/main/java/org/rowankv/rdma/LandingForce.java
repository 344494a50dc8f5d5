package org.rowankv.rdma;

/**
 * How what has landed in an endpoint's region is brought to its device, where the fabric's completions promise {@link
 * AckLevel#FORCED}. Who lands bytes names them, asks, and counts them as landed once the answer is there. Nobody waits
 * inside. For any thread.
 */
public interface LandingForce {
    /** Bytes that were stored before this call are to be forced, with the next that are asked for. */
    void flush(long address, long length);

    /** Asks for everything flushed before; returns a ticket for {@link #isForced}, at least 1; 0 is forced always. */
    long request();

    /** Whether what the ticket stands for is on the device. Never true any more for new tickets once a force failed. */
    boolean isForced(long ticket);
}
