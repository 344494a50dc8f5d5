package org.rowankv.rdma.rowan;

/** Supplier of free segments for a {@link RowanReceiver}. Called on the receiver's control agent. */
public interface SegmentSupplier {

    /**
     * Supplies up to {@code requested} free, unnamed segments, each with the generation of its next use (see {@link
     * GenerationSource}) and its new state durable. Fills both arrays from 0, in any order; returns the number.
     */
    int take(int[] segments, int[] generations, int requested);

    /** Takes back a segment that was not posted. */
    void takeBack(int segment, int generation);
}
