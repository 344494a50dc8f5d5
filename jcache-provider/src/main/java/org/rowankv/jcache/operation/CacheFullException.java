package org.rowankv.jcache.operation;

import javax.cache.CacheException;

/**
 * The store has no room for an entry. Nothing was written; reads go on, and writes do once entries were removed, have
 * expired, or the capacity is raised.
 */
public final class CacheFullException extends CacheException {
    private static final long serialVersionUID = 1L;

    public CacheFullException(String message, Throwable cause) {
        super(message, cause);
    }
}
