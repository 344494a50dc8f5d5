package org.rowankv.server.digest;

/** What landed in a server's backup log is not what was sent: its replica lacks what the sender counts as replicated. */
final class DamagedLandingError extends AssertionError {
    private static final long serialVersionUID = 1L;

    DamagedLandingError(String message) {
        super(message);
    }
}
