package org.rowankv.server.session;

/** The state of a request in its session. */
public enum RequestFinding {
    /** The session is not open here: it never was, or is closed. */
    NO_SESSION,
    /** Not seen before. */
    NEW,
    /** There is a completion, see {@link SessionTable#find}. */
    COMPLETED,
    /** Below the session's watermark: a duplicate whose response is not awaited. */
    ANSWERED,
    /** The session is ending: retry. */
    ENDING
}
