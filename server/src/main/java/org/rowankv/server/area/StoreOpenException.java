package org.rowankv.server.area;

import org.jspecify.annotations.Nullable;

/**
 * A store could not be opened or created. The message says what was found, where, and what to do. Nothing was changed:
 * the same store can be opened properly afterwards.
 */
public class StoreOpenException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StoreOpenException(String message) {
        super(message);
    }

    public StoreOpenException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
