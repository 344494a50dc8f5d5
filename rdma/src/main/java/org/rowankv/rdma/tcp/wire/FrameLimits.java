package org.rowankv.rdma.tcp.wire;

/** What one end of a connection accepts. */
interface FrameLimits {

    /** Longest payload of a frame of that type in bytes, or -1 if no such frame may come. */
    int mostPayload(int type);
}
