package org.rowankv.protocol;

/**
 * The size limit of a cache: above it the store evicts objects of that cache, and of no other. A limit is kept within
 * a tenth while callers write as fast as they can; below it nothing is ever evicted.
 *
 * @param maxEntries objects, 1 or more; {@link #NO_LIMIT}: any number
 * @param maxBytes that the objects take in the log of one replica, headers and padding included, 1 or more; {@link
 *     #NO_LIMIT}: any number; {@link #SHARED}: a share of the store
 */
public record CacheLimit(long maxEntries, long maxBytes) {
    public static final long NO_LIMIT = 0;
    /** Bytes of a cache that gives way when the store is full: it shares a limit with all others of that kind. */
    public static final long SHARED = Long.MAX_VALUE;
    /** No limit: the default of every cache. */
    public static final CacheLimit NONE = new CacheLimit(NO_LIMIT, NO_LIMIT);

    /** Throws IllegalArgumentException for a negative number. */
    public CacheLimit {
        if (maxEntries < 0 || maxBytes < 0) {
            throw new IllegalArgumentException("a limit is 1 or more entries or bytes, or " + NO_LIMIT
                    + " for none, not " + maxEntries + " and " + maxBytes);
        }
    }

    public boolean isNone() {
        return maxEntries == NO_LIMIT && maxBytes == NO_LIMIT;
    }

    @Override
    public String toString() {
        return isNone()
                ? "no limit"
                : (maxEntries == NO_LIMIT ? "" : "at most " + maxEntries + " entries")
                        + (maxEntries == NO_LIMIT || maxBytes == NO_LIMIT ? "" : ", ")
                        + (maxBytes == NO_LIMIT
                                ? ""
                                : maxBytes == SHARED ? "a share of the store" : "at most " + maxBytes + " bytes");
    }
}
