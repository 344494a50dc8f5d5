package org.rowankv.rdma;

/** What a fabric's {@link CompletionStatus#LANDED} promises about the receiver's memory. */
public enum AckLevel {
    /** The bytes are in the receiver's memory or page cache: they survive the end of its process, not a power cut. */
    LANDED,
    /** The bytes have been forced to the receiver's device. */
    FORCED
}
