package org.rowankv.sim.device;

import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;

/**
 * A bit that the simulator flips on a device.
 *
 * @param address of its byte in the area
 * @param mask of the bit in the byte
 * @param place the field or table it belongs to
 * @param frame address of the entry that contains it; 0: before the segments
 * @param word of that entry, at the time of the choice
 */
public record RottenBit(long address, int mask, String place, long frame, long word) {
    /** Whether the chosen entry is still there. */
    public boolean isStillOf(MemoryRegion region) {
        return frame == 0 || FrameDescriptor.wordAcquire(region.buffer(frame), region.offset(frame)) == word;
    }
}
