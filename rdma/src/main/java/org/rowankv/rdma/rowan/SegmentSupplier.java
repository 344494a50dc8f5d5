package org.rowankv.rdma.rowan;

/** Where a {@link RowanReceiver} gets free segments from. Called on the receiver's control agent. */
public interface SegmentSupplier {

    /**
     * Gives up to {@code wanted} free segments that nobody names, each with the generation of its coming use (see
     * {@link GenerationSource}), its new state durable. Fills both arrays from 0, in any order; returns how many.
     */
    int take(int[] segments, int[] generations, int wanted);

    /** Takes back a segment that was not posted after all. */
    void takeBack(int segment, int generation);
}
