package org.rowankv.server.digest;

/** What landed in a server's backup log is not what was sent: its replica lacks what the sender counts as replicated. */
public final class DamagedLandingError extends AssertionError {
    private static final long serialVersionUID = 1L;

    private final int serverId;

    DamagedLandingError(int serverId, String message) {
        super(message);
        this.serverId = serverId;
    }

    /** Whose replica is not complete. */
    public int serverId() {
        return serverId;
    }
}
