package org.rowankv.driver.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of a scan.
 *
 * @param entries live objects, in no particular order within the page
 * @param nextPosition the position to go on from; meaningless when {@code last}
 * @param last whether the shard holds nothing behind this page
 */
public record ScanPage(List<Entry> entries, long nextPosition, boolean last) {
    /**
     * One object; the arrays are the receiver's own copies. {@code value} is null in a scan of keys, and where it is too long for a
     * page: then it is read by itself.
     */
    @SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, never compared
    public record Entry(byte[] key, byte @Nullable [] value, long version) {}
}
