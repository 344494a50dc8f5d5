package org.rowankv.server.area;

import java.util.List;

/**
 * A tool's view of an area's superblock.
 *
 * @param copies of copy A and copy B: "valid", or the reason why it is invalid
 * @param sequence of the copy that counts
 * @param areaId drawn when the area was created
 * @param incarnation number of starts of its server
 * @param term the highest that its server adopted
 * @param bootId of the last write
 * @param thisBoot whether the operating system has not restarted since
 * @param copied whether the file is not the one it was created as
 * @param clean whether it was closed and not opened since
 */
public record SuperblockReading(
        int formatVersion,
        List<String> copies,
        long sequence,
        int server,
        String clusterId,
        String areaId,
        long incarnation,
        long term,
        String bootId,
        boolean thisBoot,
        boolean copied,
        boolean clean) {
    public static final String VALID = "valid";
}
