package org.rowankv.sim.device;

import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;

/**
 * A bit that is to flip.
 *
 * @param address of its byte in the area
 * @param mask of the bit in the byte
 * @param place what it is part of
 * @param frame address of the entry that it is in; 0: in front of the segments
 * @param word of that entry, as it was chosen
 */
public record RottenBit(long address, int mask, String place, long frame, long word) {
    /** Whether what was chosen is still there. */
    public boolean isStillOf(MemoryRegion region) {
        return frame == 0 || FrameDescriptor.wordAcquire(region.buffer(frame), region.offset(frame)) == word;
    }
}
