package org.rowankv.rdma;

/**
 * Source of the receiver's free log space. Senders acquire it before they assign a version, so a full receiver is
 * detected while the operation can still be refused. Implementations are thread-safe and never block: senders call them
 * from their own threads.
 */
public interface CreditSource {

    /** Grants up to {@code requested} bytes; returns the granted amount, 0 to {@code requested}. */
    long acquire(long requested);

    /** Returns unused credit. */
    void release(long bytes);
}
