package org.rowankv.server.peer;

/** What the server does together with others is over, since one of them has started anew, or the roles have changed. */
public final class StaleTermException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public StaleTermException(String message) {
        super(message);
    }
}
