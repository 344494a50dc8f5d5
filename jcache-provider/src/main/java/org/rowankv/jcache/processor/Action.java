package org.rowankv.jcache.processor;

/** Net effect of a processor on its entry, applied once after it returns. */
public enum Action {
    /** Did not even read the value. */
    NONE,
    /** Read a present value. */
    READ,
    /** Read an absent value, which the loader provided. */
    LOADED,
    /** Set an absent value. */
    CREATED,
    /** Replaced a present value. */
    UPDATED,
    /** Removed the entry; also if absent, so that the writer is called. */
    DELETED
}
