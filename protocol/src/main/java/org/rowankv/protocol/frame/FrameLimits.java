package org.rowankv.protocol.frame;

/** Limits of the frames that one end of a connection accepts. */
@FunctionalInterface
public interface FrameLimits {
    /**
     * Longest frame of a type.
     *
     * @param type any number from 0 to 255
     * @return bytes, with the head; -1: no such frame may arrive
     */
    int longest(int type);
}
