package org.rowankv.check.client;

import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.Outcome;
import org.rowankv.driver.api.RowanException;
import org.rowankv.jcache.operation.CacheFullException;

/**
 * Classification of exceptions: those an application must expect from a disturbed cluster, and those that must never
 * occur.
 */
public final class HonestFailure {
    private HonestFailure() {}

    /**
     * The outcome implied by an exception: {@link Outcome#UNKNOWN}, or {@link Outcome#REFUSED} if the operation had no
     * effect.
     *
     * @param reads whether the operation reads, alone or before a change; only a read may end without a reply
     * @return null if the exception must never reach an application
     */
    public static @Nullable Outcome outcomeOf(RuntimeException failure, boolean reads) {
        final boolean isOfTheJsr =
                failure.getClass() == CacheException.class || failure.getClass() == CacheFullException.class;
        final RowanException cause = causeOf(failure);
        if (!isOfTheJsr || cause == null) {
            return null;
        }
        return switch (cause.status()) {
            case OUTCOME_UNKNOWN -> Outcome.UNKNOWN;
            case UNREACHABLE, NOT_PRIMARY, STALE_TERM, NO_VERSION, UNDER_REPLICATED -> Outcome.REFUSED;
            case FULL -> failure instanceof CacheFullException ? Outcome.REFUSED : null;
            case NO_REPLY -> reads ? Outcome.REFUSED : null;
            default -> null;
        };
    }

    private static @Nullable RowanException causeOf(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof RowanException rowan) {
                return rowan;
            }
        }
        return null;
    }
}
