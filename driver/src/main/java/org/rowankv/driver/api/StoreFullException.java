package org.rowankv.driver.api;

import org.rowankv.protocol.Status;

/**
 * The store has no room for the entry on one of its replicas. Nothing was written, reads go on; it passes when objects
 * are removed, expire, or the capacity is raised.
 */
public final class StoreFullException extends RowanException {
    private static final long serialVersionUID = 1L;

    public StoreFullException(String message) {
        super(Status.FULL, message);
    }
}
