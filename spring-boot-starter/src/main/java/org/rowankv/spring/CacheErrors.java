package org.rowankv.spring;

/** Effect on the application of a cache that fails. */
public enum CacheErrors {
    /** A failing read is a miss, and a failing write of a result is dropped; both are logged. A failing evict throws. */
    LOG,
    /** Every failure throws. */
    THROW
}
