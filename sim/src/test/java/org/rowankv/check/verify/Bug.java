package org.rowankv.check.verify;

/** What can be wrong with a {@link ModelStore}. */
enum Bug {
    NONE,
    /** A repeated attempt is carried out again. */
    NO_DUPLICATE_CHECK,
    /** Two attempts of one operation that meet are both carried out. */
    DUPLICATE_CHECK_OUTSIDE_LOCK,
    /** An attempt that arrives after its operation is over is carried out. */
    LATE_ATTEMPTS_ACCEPTED,
    /** Now and then a read answers what it read of that key a while ago. */
    STALE_READS,
    /** Now and then a conditional write ignores its condition. */
    LOST_UPDATES,
    /** Now and then a removal is acknowledged but does nothing. */
    RESURRECTION,
    /** Now and then a byte of a value is wrong. */
    TORN_VALUES,
    /** Now and then an acknowledged write is not carried out. */
    LOST_WRITES
}
