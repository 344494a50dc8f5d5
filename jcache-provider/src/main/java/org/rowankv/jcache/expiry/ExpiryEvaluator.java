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
 * The lifetimes, in milliseconds as in {@link Ttl}, that a cache's policy gives to its entries. The JSR's own policies
 * answer the same every time, so they are asked once and become constants; any other is asked whenever the JSR says so.
 *
 * <p>A policy that throws, or returns null at creation, counts as one that answered "eternal" at creation and
 * "unchanged" otherwise, with one warning for each kind of call. Thread-safe, if the policy is.
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
        this.createMs = constant ? ask("getExpiryForCreation", policy::getExpiryForCreation, Ttl.ETERNAL) : Ttl.ETERNAL;
        this.updateMs = constant ? ask("getExpiryForUpdate", policy::getExpiryForUpdate, Ttl.UNCHANGED) : Ttl.UNCHANGED;
        this.accessMs = constant ? ask("getExpiryForAccess", policy::getExpiryForAccess, Ttl.UNCHANGED) : Ttl.UNCHANGED;
    }

    /** Whether the three lifetimes are the same every time, so that they need not wait for what an operation meets. */
    public boolean isConstant() {
        return constant;
    }

    /** The class of the policy. */
    public Class<?> policyClass() {
        return policy.getClass();
    }

    /** Whether no entry ever expires. */
    public boolean isEternal() {
        return constant && createMs == Ttl.ETERNAL && isNoEnd(updateMs) && isNoEnd(accessMs);
    }

    private static boolean isNoEnd(long ttlMs) {
        return ttlMs == Ttl.ETERNAL || ttlMs == Ttl.UNCHANGED;
    }

    public long createMs() {
        return constant ? createMs : ask("getExpiryForCreation", policy::getExpiryForCreation, Ttl.ETERNAL);
    }

    public long updateMs() {
        return constant ? updateMs : ask("getExpiryForUpdate", policy::getExpiryForUpdate, Ttl.UNCHANGED);
    }

    public long accessMs() {
        return constant ? accessMs : ask("getExpiryForAccess", policy::getExpiryForAccess, Ttl.UNCHANGED);
    }

    private long ask(String call, Supplier<@Nullable Duration> question, long otherwise) {
        final Duration duration;
        try {
            duration = question.get();
        } catch (RuntimeException e) {
            if (warned.add(call)) {
                LOG.warn("{} of {} throws; taken for no answer from now on", call, policy.getClass(), e);
            }
            return otherwise;
        }
        if (duration == null) {
            if (otherwise == Ttl.ETERNAL && warned.add(call)) {
                LOG.warn("{} of {} returns null; such entries are eternal", call, policy.getClass());
            }
            return otherwise;
        }
        return toMs(duration);
    }

    /** Rounded up to a millisecond; what is too long to be counted is eternal. */
    static long toMs(Duration duration) {
        final TimeUnit unit = duration.getTimeUnit();
        if (unit == null) {
            return Ttl.ETERNAL;
        }
        final long amount = duration.getDurationAmount();
        final long ms = unit.toMillis(amount);
        return ms == 0 && amount > 0 ? 1 : ms;
    }

    /** Closes a policy that is Closeable. */
    @Override
    public void close() throws IOException {
        if (policy instanceof Closeable closeable) {
            closeable.close();
        }
    }
}
