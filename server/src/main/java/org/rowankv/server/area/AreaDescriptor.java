package org.rowankv.server.area;

/**
 * Layout of a whole area. Addresses count from 0; chunk boundaries are multiples of a power of two that the segment
 * length divides, so a segment never crosses one.
 *
 * <pre>
 *      0  +--------------------------+
 *         | superblock, copy A       |  {@link SuperblockDescriptor}
 *  4,096  +--------------------------+
 *         | superblock, copy B       |
 *  8,192  +--------------------------+
 *         | tenures, 8 B per shard   |  {@link TenureTable}
 *         +--------------------------+  next multiple of 4,096
 *         | segment meta,            |  {@link SegmentMetaDescriptor}
 *         | 32 B per segment         |
 *         +--------------------------+  next multiple of the segment length: segmentBase
 *         | segment 0                |
 *         | segment 1 ...            |
 *         +--------------------------+  fileLength
 * </pre>
 */
public final class AreaDescriptor {
    static final int PAGE = 4096;
    public static final int SUPERBLOCK_A_OFFSET = 0;
    public static final int SUPERBLOCK_B_OFFSET = SUPERBLOCK_A_OFFSET + PAGE;
    public static final int TENURES_OFFSET = SUPERBLOCK_B_OFFSET + PAGE;
    static final int TENURE_LENGTH = 8;

    /** The longest piece of an area mapped at once; a power of two. */
    public static final int MAX_CHUNK_SHIFT = 30;

    private AreaDescriptor() {}

    public static int segmentMetaOffset(int shardCount) {
        return Math.toIntExact(roundUp(TENURES_OFFSET + (long) shardCount * TENURE_LENGTH, PAGE));
    }

    /** The bytes before the segments that are in use: a whole number of pages. */
    public static int headerLength(int shardCount, int segmentCount) {
        final long end = segmentMetaOffset(shardCount) + (long) segmentCount * SegmentMetaDescriptor.LENGTH;
        return Math.toIntExact(roundUp(end, PAGE));
    }

    public static long segmentBase(int shardCount, int segmentCount, int segmentLength) {
        return roundUp(headerLength(shardCount, segmentCount), segmentLength);
    }

    public static long fileLength(int shardCount, int segmentCount, int segmentLength) {
        return segmentBase(shardCount, segmentCount, segmentLength) + (long) segmentCount * segmentLength;
    }

    /** Rounds up to a multiple of a power of two. */
    private static long roundUp(long value, int multiple) {
        return (value + multiple - 1) & -multiple;
    }
}
