package org.rowankv.server.area;

import java.util.List;

/**
 * What a tool reads in the superblock of an area.
 *
 * @param copies of copy A and copy B: "valid", or why it does not count
 * @param sequence of the copy that counts
 * @param areaId drawn when the area was created
 * @param incarnation how often its server started
 * @param term the highest that its server adopted
 * @param bootId under which it was written last
 * @param thisBoot whether the operating system has not been restarted since
 * @param copied whether the file is another one than it was created as
 * @param clean whether it was closed, and not opened since
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
