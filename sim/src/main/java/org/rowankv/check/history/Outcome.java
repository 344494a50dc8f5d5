package org.rowankv.check.history;

/** The result of an operation for its caller. */
public enum Outcome {
    /** It took effect; a read found a value. */
    DONE,
    /** There was no object. Nothing was changed. */
    NOT_FOUND,
    /** Its condition did not hold. Nothing was changed. */
    CONDITION_FAILED,
    /** The store refused it (full, too large, closed). Nothing was changed, and the reply carries no state. */
    REFUSED,
    /** No reply arrived: it may take effect once, at any time after it was invoked. */
    UNKNOWN
}
