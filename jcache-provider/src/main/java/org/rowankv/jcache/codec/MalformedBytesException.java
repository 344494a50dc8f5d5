package org.rowankv.jcache.codec;

import javax.cache.CacheException;

/** Stored bytes are not in this version's format; the entry stays unchanged. */
public final class MalformedBytesException extends CacheException {
    private static final long serialVersionUID = 1L;

    public MalformedBytesException(String message) {
        super(message);
    }

    public MalformedBytesException(String message, Throwable cause) {
        super(message, cause);
    }
}
