package org.rowankv.driver.api;

import org.rowankv.protocol.Status;

/**
 * A replica has no space for the entry. Nothing was written and reads continue; writes succeed again after removals,
 * expiry, or a larger capacity.
 */
public final class StoreFullException extends RowanException {
    private static final long serialVersionUID = 1L;

    public StoreFullException(String message) {
        super(Status.FULL, message);
    }
}
