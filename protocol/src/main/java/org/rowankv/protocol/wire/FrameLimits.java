package org.rowankv.protocol.wire;

/** How long frames may be that one end of a connection accepts. */
@FunctionalInterface
public interface FrameLimits {
    /**
     * Longest frame of a type.
     *
     * @param type of a {@link FrameDescriptor}, or any other number from 0 to 255
     * @return bytes, with the head
     */
    int longest(int type);
}
