package org.rowankv.server.digest;

/**
 * An entry in a server's backup log is not what was sent: its replica lacks an entry that the sender counts as
 * replicated.
 */
final class DamagedLandingError extends AssertionError {
    private static final long serialVersionUID = 1L;

    DamagedLandingError(String message) {
        super(message);
    }
}
