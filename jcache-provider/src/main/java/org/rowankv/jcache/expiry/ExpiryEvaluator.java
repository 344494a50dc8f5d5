package org.rowankv.jcache.expiry;

import java.io.Closeable;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.cache.expiry.AccessedExpiryPolicy;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import javax.cache.expiry.EternalExpiryPolicy;
import javax.cache.expiry.ExpiryPolicy;
import javax.cache.expiry.ModifiedExpiryPolicy;
import javax.cache.expiry.TouchedExpiryPolicy;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Ttl;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evaluator of a cache's expiry policy; returns lifetimes in milliseconds, as in {@link Ttl}. The JSR's own policies
 * are constant, so they are evaluated once; any other policy is called whenever the JSR requires it.
 *
 * <p>A policy that throws, or returns null at creation, counts as "eternal" at creation and "unchanged" otherwise; the
 * first failure of each method is logged. Thread-safe if the policy is.
 */
public final class ExpiryEvaluator implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(ExpiryEvaluator.class);
    private static final Set<Class<?>> CONSTANT_POLICIES = Set.of(
            AccessedExpiryPolicy.class,
            CreatedExpiryPolicy.class,
            EternalExpiryPolicy.class,
            ModifiedExpiryPolicy.class,
            TouchedExpiryPolicy.class);

    private final ExpiryPolicy policy;
    private final boolean constant;
    private final long createMs;
    private final long updateMs;
    private final long accessMs;
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    public ExpiryEvaluator(ExpiryPolicy policy) {
        this.policy = policy;
        this.constant = CONSTANT_POLICIES.contains(policy.getClass());
        this.createMs =
                constant ? evaluate("getExpiryForCreation", policy::getExpiryForCreation, Ttl.ETERNAL) : Ttl.ETERNAL;
        this.updateMs =
                constant ? evaluate("getExpiryForUpdate", policy::getExpiryForUpdate, Ttl.UNCHANGED) : Ttl.UNCHANGED;
        this.accessMs =
                constant ? evaluate("getExpiryForAccess", policy::getExpiryForAccess, Ttl.UNCHANGED) : Ttl.UNCHANGED;
    }

    /** Whether the lifetimes are constants, so that they do not depend on the present entry. */
    public boolean isConstant() {
        return constant;
    }

    /** Whether an access may change a lifetime, so that each must reach the store. */
    public boolean dependsOnAccess() {
        return !constant || accessMs != Ttl.UNCHANGED;
    }

    /** The class of the policy. */
    public Class<?> policyClass() {
        return policy.getClass();
    }

    /** Whether entries never expire. */
    public boolean isEternal() {
        return constant && createMs == Ttl.ETERNAL && isNoEnd(updateMs) && isNoEnd(accessMs);
    }

    private static boolean isNoEnd(long ttlMs) {
        return ttlMs == Ttl.ETERNAL || ttlMs == Ttl.UNCHANGED;
    }

    public long createMs() {
        return constant ? createMs : evaluate("getExpiryForCreation", policy::getExpiryForCreation, Ttl.ETERNAL);
    }

    public long updateMs() {
        return constant ? updateMs : evaluate("getExpiryForUpdate", policy::getExpiryForUpdate, Ttl.UNCHANGED);
    }

    public long accessMs() {
        return constant ? accessMs : evaluate("getExpiryForAccess", policy::getExpiryForAccess, Ttl.UNCHANGED);
    }

    private long evaluate(String methodName, Supplier<@Nullable Duration> method, long fallback) {
        final Duration duration;
        try {
            duration = method.get();
        } catch (RuntimeException e) {
            if (warned.add(methodName)) {
                LOG.warn(
                        "ROWAN-1103 Expiry policy failed; its failures count as no answer method={} policy={}",
                        methodName,
                        policy.getClass(),
                        e);
            }
            return fallback;
        }
        if (duration == null) {
            if (fallback == Ttl.ETERNAL && warned.add(methodName)) {
                LOG.warn(
                        "ROWAN-1104 Expiry policy returned null; such entries are eternal method={} policy={}",
                        methodName,
                        policy.getClass());
            }
            return fallback;
        }
        return toMs(duration);
    }

    /** Rounds up to a millisecond; an overflow is eternal. */
    static long toMs(Duration duration) {
        final TimeUnit unit = duration.getTimeUnit();
        if (unit == null) {
            return Ttl.ETERNAL;
        }
        final long amount = duration.getDurationAmount();
        final long ms = unit.toMillis(amount);
        return ms == 0 && amount > 0 ? 1 : ms;
    }

    /** Closes the policy if it is Closeable. */
    @Override
    public void close() throws IOException {
        if (policy instanceof Closeable closeable) {
            closeable.close();
        }
    }
}
