package org.rowankv.protocol;

/**
 * Lifetimes travel as durations in milliseconds; the primary adds its own clock, so a client's clock never matters.
 */
public final class Ttl {
    /** Never expires. */
    public static final long ETERNAL = Long.MAX_VALUE;
    /** Keeps what the object has; on creation the same as {@link #ETERNAL}. */
    public static final long UNCHANGED = -1;
    /** Expires at once: a creation stores nothing, an update or access ends the object. */
    public static final long IMMEDIATE = 0;

    private Ttl() {}

    /** The reason why a value is not a lifetime, or null. */
    public static @org.jspecify.annotations.Nullable String whyInvalid(long ttlMs) {
        return ttlMs < UNCHANGED ? "a lifetime is >= 0 ms, or UNCHANGED (-1), not " + ttlMs : null;
    }
}
