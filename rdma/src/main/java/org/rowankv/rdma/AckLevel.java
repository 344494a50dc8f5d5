package org.rowankv.rdma;

/** Durability promised by a {@link CompletionStatus#LANDED} of a fabric. */
public enum AckLevel {
    /** The bytes are in the receiver's memory or page cache: they survive the end of its process, not a power cut. */
    LANDED,
    /** The bytes have been forced to the receiver's device. */
    FORCED
}
