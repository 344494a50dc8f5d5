package org.rowankv.server.cluster;

/** What the server does together with others is over, since one of them has started anew, or the roles have changed. */
final class RoundOverException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    RoundOverException(String message) {
        super(message);
    }
}
