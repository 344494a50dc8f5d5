package org.rowankv.rdma;

/**
 * The receiver's free log space, given out to senders before they take a version, so that being full is known before
 * it is too late to refuse. Implementations are thread-safe and never block: senders call them from their own
 * threads.
 */
public interface CreditSource {

    /** Grants up to {@code wanted} bytes; returns what it granted, 0 to {@code wanted}. */
    long draw(long wanted);

    /** Returns what was granted and not used. */
    void giveBack(long bytes);
}
