package org.rowankv.rdma.rowan;

/** Receives what a {@link LandingCursor} reads, on the thread that polls it. If it throws, the same comes again. */
public interface LandingHandler {

    /**
     * A published frame. Its header and body have not been checked against their crc.
     *
     * @param address region address of the frame
     * @param type of the entry, as its word has it
     * @param lengthBytes of the frame, a multiple of the stride
     */
    void onFrame(int segment, long address, int type, int lengthBytes);

    /** Nothing more will come from the segment of that ordinal. */
    void onSegmentClosed(long ordinal, int segment);
}
