package org.rowankv.server.peer;

/** What the server does together with others is over, since one of them has started anew, or the roles have changed. */
public final class RoundOverException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public RoundOverException(String message) {
        super(message);
    }
}
