package org.rowankv.server.session;

/** Whether a session can be opened now: in a free slot, in place of another session, or later. */
public enum SessionOpening {
    /** None: it has a slot. */
    HAS_SLOT,
    /** Another session must end first: it has the slot of that one. */
    REPLACES,
    /** All slots belong to sessions with requests in flight. Retry. */
    WAITS
}
