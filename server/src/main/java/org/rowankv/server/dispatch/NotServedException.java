package org.rowankv.server.dispatch;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;

/**
 * A request is refused because the server has failed, makes no progress, or may not or cannot answer for the shard; the
 * cause is the failure, if any.
 */
public final class NotServedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    private final Status status;

    NotServedException(Status status, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.status = status;
    }

    /** An entry that a scan of the shard would show is damaged. */
    public static NotServedException damaged(int shard) {
        return new NotServedException(Status.CORRUPTED, "an entry of shard " + shard + " is damaged", null);
    }

    /**
     * CORRUPTED for a scan that met damage; CLOSED, UNREACHABLE or NOT_PRIMARY if nothing was applied, OUTCOME_UNKNOWN if
     * the request had begun.
     */
    public Status status() {
        return status;
    }
}
