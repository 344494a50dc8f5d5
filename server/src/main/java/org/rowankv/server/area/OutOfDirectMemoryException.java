package org.rowankv.server.area;

import org.jspecify.annotations.Nullable;

/**
 * The JVM's limit of direct memory was reached before the capacity of an area without files. The requested segment
 * stays free; nothing else changes.
 */
public final class OutOfDirectMemoryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    OutOfDirectMemoryException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
