package org.rowankv.jcache.operation;

import javax.cache.CacheException;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Status;

/** Mapping from failures of the native client to exceptions of the JSR. */
public final class ExceptionMapping {
    private ExceptionMapping() {}

    public static RuntimeException of(RowanException failure) {
        final Status status = failure.status();
        if (status == Status.CLOSED && failure.getCause() != null) {
            return new CacheException(failure.getMessage(), failure); // the store failed; the cache is still open
        }
        return switch (status) {
            case FULL -> new CacheFullException(String.valueOf(failure.getMessage()), failure);
            case CLOSED, UNKNOWN_CACHE -> new IllegalStateException(failure.getMessage(), failure);
            default -> new CacheException(failure.getMessage(), failure);
        };
    }
}
