package org.rowankv.server.area;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.durability.Durability;

/**
 * Parameters with which an area is created, or which it must have when it is opened.
 *
 * @param file where it is kept; null for anonymous memory, and for memory that brings its own device
 * @param capacity bytes of all segments together; what is not a whole segment is left out
 * @param segmentLength bytes of a segment, a power of two
 * @param serverId of the server that owns it
 * @param clusterId of the cluster that the server belongs to
 * @param shardCount of the cluster
 * @param durability level in force
 * @param serverCount of the cluster, kept for people and tools
 * @param replicaCount of the cluster, kept for people and tools
 */
public record AreaSettings(
        @Nullable Path file,
        long capacity,
        int segmentLength,
        int serverId,
        long clusterId,
        int shardCount,
        Durability durability,
        int serverCount,
        int replicaCount) {
    public static final int MIN_SEGMENT_LENGTH = 64 << 10;
    public static final int MAX_SEGMENT_LENGTH = 4 << 20;
    /** The minimum number of segments, where the capacity allows it. */
    private static final int AIMED_SEGMENTS = 64;

    /** The table of segments is one buffer, and an address has 48 bits. */
    private static final long MAX_SEGMENTS = 1 << 22;

    public AreaSettings {
        if (Integer.bitCount(segmentLength) != 1
                || segmentLength < MIN_SEGMENT_LENGTH
                || segmentLength > MAX_SEGMENT_LENGTH) {
            throw new IllegalArgumentException("segment length must be a power of two from " + MIN_SEGMENT_LENGTH
                    + " to " + MAX_SEGMENT_LENGTH + ", not " + segmentLength);
        }
        if (capacity < segmentLength) {
            throw new IllegalArgumentException(
                    "capacity " + capacity + " is less than one segment of " + segmentLength);
        }
        if (capacity / segmentLength > MAX_SEGMENTS) {
            throw new IllegalArgumentException("capacity " + capacity + " is more than " + MAX_SEGMENTS
                    + " segments of " + segmentLength + ": use longer segments");
        }
        if (serverId < 0 || shardCount < 1) {
            throw new IllegalArgumentException("server " + serverId + " of " + shardCount + " shards");
        }
        if (file != null && durability == Durability.NONE) {
            throw new IllegalArgumentException(
                    "durability=none keeps no file: leave dir out, or use durability=process");
        }
        if (file == null && durability == Durability.PROCESS) {
            throw new IllegalArgumentException("durability=process needs a file: give dir=, or durability=none");
        }
    }

    /** For a cluster of one server. */
    public AreaSettings(
            @Nullable Path file,
            long capacity,
            int segmentLength,
            int serverId,
            long clusterId,
            int shardCount,
            Durability durability) {
        this(file, capacity, segmentLength, serverId, clusterId, shardCount, durability, 1, 1);
    }

    /** The segment length for a capacity: 4 MiB, or less for at least 64 segments, down to 64 KiB. */
    public static int segmentLengthFor(long capacity) {
        final long aimedLength = Long.highestOneBit(Math.max(1, capacity / AIMED_SEGMENTS));
        return (int) Math.max(MIN_SEGMENT_LENGTH, Math.min(MAX_SEGMENT_LENGTH, aimedLength));
    }

    public int segmentCount() {
        return (int) (capacity / segmentLength);
    }

    /** Bytes of the whole area, header included: the length of its file. */
    public long fileLength() {
        return AreaDescriptor.fileLength(shardCount, segmentCount(), segmentLength);
    }

    long segmentBase() {
        return AreaDescriptor.segmentBase(shardCount, segmentCount(), segmentLength);
    }
}
