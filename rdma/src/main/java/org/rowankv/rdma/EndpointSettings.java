package org.rowankv.rdma;

import org.jspecify.annotations.Nullable;

/**
 * Settings of an endpoint. All segments have equal length and follow {@code segmentBase} without gaps; none crosses a
 * chunk of the region. {@link #conclude} checks this.
 *
 * @param serverId this server
 * @param incarnation this start of it; an append on the ring of another incarnation is never valid
 * @param clusterId both ends of a connection must agree on it
 * @param region memory to land in
 * @param segmentLength bytes per segment, a multiple of the 64-byte stride
 * @param segmentBase address of segment 0
 * @param maxPosted limit of posted segments without landings
 * @param credit serves remote senders
 * @param messages receives RPC messages
 * @param view consulted by the handshake
 * @param force forces landed bytes to the device; null if the region has none, or acknowledgements do not wait for it
 */
public record EndpointSettings(
        int serverId,
        long incarnation,
        long clusterId,
        MemoryRegion region,
        int segmentLength,
        long segmentBase,
        int maxPosted,
        CreditSource credit,
        MessageHandler messages,
        MembershipView view,
        @Nullable LandingForce force) {
    /** Granularity of landing. */
    public static final int STRIDE = 64;

    /** Longest segment a receive queue can describe. */
    public static final int MAX_SEGMENT_LENGTH = 4 << 20;

    /**
     * Throws IllegalArgumentException with the reason if the values are inconsistent, or insufficient for a fabric with
     * that level; returns this.
     */
    public EndpointSettings conclude(AckLevel ackLevel) {
        if (ackLevel == AckLevel.FORCED && force == null) {
            throw new IllegalArgumentException(
                    "an endpoint of a fabric that acknowledges at FORCED needs a LandingForce");
        }
        require(segmentLength > 0 && segmentLength % STRIDE == 0, "segmentLength must be a multiple of 64");
        require(segmentLength <= MAX_SEGMENT_LENGTH, "segmentLength must be at most 4 MiB");
        require(segmentBase >= 0 && segmentBase % STRIDE == 0, "segmentBase must be a multiple of 64");
        require(maxPosted > 0, "maxPosted must be positive");
        require(segmentBase <= region.length() - segmentLength, "the region holds no segment");
        require((region.length() - segmentBase) / segmentLength <= 1 << 23, "the region holds too many segments");
        for (int segment = 0; segment < segmentCount(); segment++) {
            require(region.isContiguous(segmentAddress(segment), segmentLength), "a segment crosses a chunk");
        }
        return this;
    }

    /** Whole segments in the region. */
    public int segmentCount() {
        return (int) ((region.length() - segmentBase) / segmentLength);
    }

    /** Address of the first byte of a segment. */
    public long segmentAddress(int segment) {
        return segmentBase + (long) segment * segmentLength;
    }

    private void require(boolean condition, String reason) {
        if (!condition) {
            throw new IllegalArgumentException(reason + ": segmentLength=" + segmentLength + ", segmentBase="
                    + segmentBase + ", maxPosted=" + maxPosted + ", region=" + region.length());
        }
    }
}
