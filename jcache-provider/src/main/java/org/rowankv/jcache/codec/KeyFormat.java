package org.rowankv.jcache.codec;

import java.util.Locale;

/** How a cache's keys are encoded. Recorded with the cache: all its clients use the same. */
public enum KeyFormat {
    /** Canonical: equal keys have equal bytes. */
    STRUCTURAL,
    /** Java serialization for keys without a tag of their own: keys are the same only if their bytes are. */
    SERIALIZED;

    /** The name in templates and in the store. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
