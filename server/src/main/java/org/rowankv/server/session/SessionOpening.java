package org.rowankv.server.session;

/** The precondition of opening a session. */
public enum SessionOpening {
    /** None: it has a slot. */
    HAS_SLOT,
    /** Another session must end first: it has the slot of that one. */
    REPLACES,
    /** All slots belong to sessions with requests in flight. Retry. */
    WAITS
}
