package org.rowankv.server.area;

import org.jspecify.annotations.Nullable;

/**
 * The JVM's limit of direct memory was reached before the capacity of an area without files was. The segment that was
 * asked for stays free; nothing else happened.
 */
public final class OutOfDirectMemoryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    OutOfDirectMemoryException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
