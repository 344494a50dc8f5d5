package org.rowankv.runtime;

import java.security.SecureRandom;

/** Seeds that nobody can guess, from the operating system. For production; a test or simulation names its seed. */
public final class SecureSeed {
    private SecureSeed() {}

    public static long next() {
        return new SecureRandom().nextLong();
    }

    /** A source seeded with {@link #next}. */
    public static RandomSource source() {
        return new SplittableRandomSource(next());
    }
}
