package org.rowankv.check.verify;

/** A bug of a {@link ModelStore}. */
enum Bug {
    NONE,
    /** A retried attempt is executed again. */
    NO_DUPLICATE_CHECK,
    /** Two concurrent attempts of one operation are both executed. */
    DUPLICATE_CHECK_OUTSIDE_LOCK,
    /** An attempt that arrives after its operation has ended is executed. */
    LATE_ATTEMPTS_ACCEPTED,
    /** Sometimes a read returns an older value of that key. */
    STALE_READS,
    /** Sometimes a conditional write ignores its condition. */
    LOST_UPDATES,
    /** Sometimes a removal is acknowledged but has no effect. */
    RESURRECTION,
    /** Sometimes a byte of a value is wrong. */
    TORN_VALUES,
    /** Sometimes an acknowledged write is not executed. */
    LOST_WRITES
}
