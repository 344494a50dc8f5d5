package org.rowankv.server.configstore;

import java.util.Arrays;

/**
 * A node with its version.
 *
 * @param bytes of the node; the reader's own copy
 * @param version for the next compare-and-set
 * @param stamp of the last write
 */
@SuppressWarnings("ArrayRecordComponent") // equality is by content, below
public record VersionedNode(byte[] bytes, long version, Stamp stamp) {
    @Override
    public boolean equals(Object other) {
        return other instanceof VersionedNode that
                && version == that.version
                && stamp.equals(that.stamp)
                && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * Arrays.hashCode(bytes) + Long.hashCode(version)) + stamp.hashCode();
    }
}
