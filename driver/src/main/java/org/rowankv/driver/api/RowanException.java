package org.rowankv.driver.api;

import org.rowankv.protocol.Status;

/** Failure of an operation, classified by {@link #status()}. */
public class RowanException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Status status;

    public RowanException(Status status, String message) {
        super(message);
        this.status = status;
    }

    public RowanException(Status status, String message, Throwable cause) {
        super(message, cause);
        this.status = status;
    }

    public Status status() {
        return status;
    }
}
