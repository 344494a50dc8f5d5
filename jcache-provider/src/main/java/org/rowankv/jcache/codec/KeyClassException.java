package org.rowankv.jcache.codec;

import javax.cache.CacheException;

/** Objects of a class cannot be keys, since equal ones may have different bytes; nothing was read or written. */
public final class KeyClassException extends CacheException {
    private static final long serialVersionUID = 1L;

    KeyClassException(Class<?> type, String why) {
        super(message(type, why));
    }

    KeyClassException(Class<?> type, String why, Throwable cause) {
        super(message(type, why), cause);
    }

    private static String message(Class<?> type, String why) {
        return "a " + type.getName() + " cannot be a key, or a part of one: " + why
                + ". Use a record, or give the cache's template keys=serialized: then keys are the same only if their"
                + " serialized bytes are";
    }
}
