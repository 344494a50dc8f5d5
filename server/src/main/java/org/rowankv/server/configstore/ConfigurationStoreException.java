package org.rowankv.server.configstore;

import org.jspecify.annotations.Nullable;

/**
 * The configuration store failed, or its content cannot be read. A compare-and-set that failed may have been applied:
 * read the node back.
 */
public final class ConfigurationStoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ConfigurationStoreException(String message) {
        super(message);
    }

    public ConfigurationStoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
