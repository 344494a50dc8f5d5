package org.rowankv.protocol;

/** Condition under which a mutation takes effect; evaluated by the primary under the key's lock. */
public enum Condition {
    ALWAYS,
    /** Only if there is no live object of that key. */
    IF_ABSENT,
    /** Only if there is a live object of that key. */
    IF_PRESENT,
    /** Only if the live object's version is the expected one. */
    IF_VERSION,
    /**
     * Only if there is no live object, and the key was neither written nor removed since the expected version, which a
     * read that found nothing returned. Fails too when the shard no longer remembers that far back.
     */
    IF_ABSENT_SINCE
}
