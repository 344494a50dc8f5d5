package org.rowankv.server.session;

/** What has to be done before a session can be opened. */
public enum SessionOpening {
    /** Nothing: it has a place. */
    HAS_PLACE,
    /** Another session has to be ended: it has the place of that one. */
    REPLACES,
    /** Requests of all sessions that may be open are under way. Ask again. */
    WAITS
}
