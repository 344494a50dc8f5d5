package org.rowankv.server.peer;

/** The coordinated step has ended, since a server has restarted or the roles have changed. */
public final class StaleTermException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public StaleTermException(String message) {
        super(message);
    }
}
