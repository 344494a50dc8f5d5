package org.rowankv.jcache.expiry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import javax.cache.expiry.AccessedExpiryPolicy;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import javax.cache.expiry.EternalExpiryPolicy;
import javax.cache.expiry.ExpiryPolicy;
import javax.cache.expiry.ModifiedExpiryPolicy;
import javax.cache.expiry.TouchedExpiryPolicy;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Ttl;

class ExpiryEvaluatorTest {
    private static final Duration MINUTE = Duration.ONE_MINUTE;

    private static void check(ExpiryPolicy policy, long createMs, long updateMs, long accessMs) {
        final ExpiryEvaluator lifetimes = new ExpiryEvaluator(policy);
        assertThat(lifetimes.isConstant()).isTrue();
        assertThat(lifetimes.createMs()).isEqualTo(createMs);
        assertThat(lifetimes.updateMs()).isEqualTo(updateMs);
        assertThat(lifetimes.accessMs()).isEqualTo(accessMs);
    }

    @Test
    void shouldMakeConstantsOfTheStandardPolicies() {
        check(new CreatedExpiryPolicy(MINUTE), 60_000, Ttl.UNCHANGED, Ttl.UNCHANGED);
        check(new ModifiedExpiryPolicy(MINUTE), 60_000, 60_000, Ttl.UNCHANGED);
        check(new AccessedExpiryPolicy(MINUTE), 60_000, Ttl.UNCHANGED, 60_000);
        check(new TouchedExpiryPolicy(MINUTE), 60_000, 60_000, 60_000);
        check(new EternalExpiryPolicy(), Ttl.ETERNAL, Ttl.UNCHANGED, Ttl.UNCHANGED);
        check(new CreatedExpiryPolicy(Duration.ZERO), Ttl.IMMEDIATE, Ttl.UNCHANGED, Ttl.UNCHANGED);
        assertThat(new ExpiryEvaluator(new EternalExpiryPolicy()).isEternal()).isTrue();
        assertThat(new ExpiryEvaluator(new TouchedExpiryPolicy(MINUTE)).isEternal())
                .isFalse();
    }

    @Test
    void shouldRoundUpAndTakeWhatIsTooLongForEternal() {
        assertThat(ExpiryEvaluator.toMs(new Duration(TimeUnit.MILLISECONDS, 7))).isEqualTo(7);
        assertThat(ExpiryEvaluator.toMs(new Duration(TimeUnit.DAYS, Long.MAX_VALUE)))
                .isEqualTo(Ttl.ETERNAL);
        assertThat(ExpiryEvaluator.toMs(Duration.ETERNAL)).isEqualTo(Ttl.ETERNAL);
        assertThat(ExpiryEvaluator.toMs(Duration.ZERO)).isZero();
    }

    /** The JSR's durations have no unit below a millisecond; an application's class may return one. */
    private static final class SmallDuration extends Duration {
        private static final long serialVersionUID = 1L;
        private final TimeUnit smallUnit;

        SmallDuration(TimeUnit unit, long amount) {
            super(TimeUnit.MILLISECONDS, amount);
            this.smallUnit = unit;
        }

        @Override
        public TimeUnit getTimeUnit() {
            return smallUnit;
        }
    }

    @Test
    void shouldTakeNoLifetimeForOverThatIsNot() {
        for (TimeUnit unit : TimeUnit.values()) {
            for (long amount : new long[] {1, 2, 500, 999, 1_000, 1_000_000, Long.MAX_VALUE}) {
                assertThat(ExpiryEvaluator.toMs(new SmallDuration(unit, amount)))
                        .as("%d %s", amount, unit)
                        .isGreaterThanOrEqualTo(Math.max(1, unit.toMillis(amount)));
            }
            assertThat(ExpiryEvaluator.toMs(new SmallDuration(unit, 0))).isEqualTo(Ttl.IMMEDIATE);
        }
    }

    @Test
    void shouldTakeAThrowingPolicyForOneWithoutAnswer() {
        final ExpiryEvaluator lifetimes = new ExpiryEvaluator(new ExpiryPolicy() {
            @Override
            public Duration getExpiryForCreation() {
                throw new IllegalStateException("broken");
            }

            @Override
            public Duration getExpiryForAccess() {
                throw new IllegalStateException("broken");
            }

            @Override
            public Duration getExpiryForUpdate() {
                return null;
            }
        });
        assertThat(lifetimes.isConstant()).isFalse();
        assertThat(lifetimes.createMs()).isEqualTo(Ttl.ETERNAL);
        assertThat(lifetimes.accessMs()).isEqualTo(Ttl.UNCHANGED);
        assertThat(lifetimes.updateMs()).isEqualTo(Ttl.UNCHANGED);
    }
}
