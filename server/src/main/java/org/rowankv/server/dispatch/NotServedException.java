package org.rowankv.server.dispatch;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;

/** A request is not answered, since the server has failed or made no progress; its cause is the failure, if there was one. */
public final class NotServedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    private final Status status;

    NotServedException(Status status, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.status = status;
    }

    /** CLOSED or UNREACHABLE if nothing was applied, OUTCOME_UNKNOWN if the request had begun. */
    public Status status() {
        return status;
    }
}
