package org.rowankv.rdma.verbs;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A device refused or failed a call. The message says what was wrong, and where it is known, what to do. */
public final class VerbsException extends IOException {
    private static final long serialVersionUID = 1L;

    public VerbsException(String message) {
        super(message);
    }

    public VerbsException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
