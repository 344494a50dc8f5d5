package org.rowankv.rdma;

/**
 * Forces landed bytes of an endpoint's region to its device, if the fabric's completions promise {@link
 * AckLevel#FORCED}. The landing side registers bytes, requests a force, and reports them as landed once it is complete.
 * No method blocks. For any thread.
 */
public interface LandingForce {
    /** Registers whole strides, whose bytes were stored before this call, for the next force. */
    void flush(long address, long length);

    /**
     * Requests a force of everything registered before; returns a ticket for {@link #isForced}, at least 1; ticket 0 is
     * always forced.
     */
    long request();

    /** Whether the ticket's bytes are on the device. After a failed force it is false for all new tickets. */
    boolean isForced(long ticket);
}
