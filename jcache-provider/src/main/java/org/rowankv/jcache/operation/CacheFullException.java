package org.rowankv.jcache.operation;

import javax.cache.CacheException;

/**
 * The store has no space for an entry. Nothing was written and reads continue; writes succeed again after removals,
 * expiry, or a larger capacity.
 */
public final class CacheFullException extends CacheException {
    private static final long serialVersionUID = 1L;

    public CacheFullException(String message, Throwable cause) {
        super(message, cause);
    }
}
