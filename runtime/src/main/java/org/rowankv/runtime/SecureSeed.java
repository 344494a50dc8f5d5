package org.rowankv.runtime;

import java.security.SecureRandom;

/** Unpredictable seeds from the operating system, for production. Tests and simulations use explicit seeds. */
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
