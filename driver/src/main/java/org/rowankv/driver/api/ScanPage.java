package org.rowankv.driver.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of a scan.
 *
 * @param entries live objects, unordered within the page
 * @param nextPosition start of the next page; meaningless if {@code last}
 * @param last whether the shard has no further pages
 */
public record ScanPage(List<Entry> entries, long nextPosition, boolean last) {
    /**
     * One object; the receiver owns the arrays. {@code value} is null in a scan of keys, and if it is too long for a
     * page: then read it separately.
     */
    @SuppressWarnings("ArrayRecordComponent") // carries bytes, never compared
    public record Entry(byte[] key, byte @Nullable [] value, long version) {}
}
