package org.rowankv.rdma.rowan;

/**
 * Receives the frames of a {@link LandingCursor}, on the polling thread. After an exception the same frame is delivered
 * again.
 */
public interface LandingHandler {

    /**
     * A published frame. Its header and body have not been checked against their crc.
     *
     * @param address region address of the frame
     * @param type of the entry, as its word has it
     * @param lengthBytes of the frame, a multiple of the stride
     */
    void onFrame(int segment, long address, int type, int lengthBytes);

    /** The segment of that ordinal is complete. */
    void onSegmentClosed(long ordinal, int segment);
}
