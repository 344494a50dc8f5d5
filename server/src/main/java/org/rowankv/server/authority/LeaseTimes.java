package org.rowankv.server.authority;

import java.util.concurrent.TimeUnit;

/**
 * How long leases last, and how long a manager waits for their ends. Immutable.
 *
 * @param leaseNs L: nanoseconds for which a lease holds from the sending of its request, and a confirmation from the
 *     sending of its question, ≥ 1
 * @param marginNs ε: nanoseconds that are added to each wait for a lease of another server, ≥ 0
 */
public record LeaseTimes(long leaseNs, long marginNs) {
    private static final long MARGIN_DIVISOR = 5;

    public LeaseTimes {
        if (leaseNs < 1 || leaseNs > TimeUnit.HOURS.toNanos(1)) {
            throw new IllegalArgumentException("a lease lasts from 1 ns to an hour, not " + leaseNs + " ns");
        }
        if (marginNs < 0 || marginNs > leaseNs) {
            throw new IllegalArgumentException("a margin is 0.." + leaseNs + " ns, not " + marginNs);
        }
    }

    /**
     * With the margin for clocks that are being adjusted: a daemon may slew a monotonic clock by 8.33 %, and two in
     * opposite directions differ by the factor 1.0833 / 0.9167 = 1.182. A fifth and a millisecond covers it.
     *
     * @param leaseNs at least 2 ms
     */
    public static LeaseTimes of(long leaseNs) {
        if (leaseNs < TimeUnit.MILLISECONDS.toNanos(2)) {
            throw new IllegalArgumentException("a lease lasts at least 2 ms, not " + leaseNs + " ns");
        }
        return new LeaseTimes(leaseNs, leaseNs / MARGIN_DIVISOR + TimeUnit.MILLISECONDS.toNanos(1));
    }

    /** Nanoseconds after which a lease that was granted before is over by its holder's clock: L + ε. */
    public long oneLeaseNs() {
        return leaseNs + marginNs;
    }

    /** Nanoseconds for a confirmation and, behind its end, a lease that was granted under it: 2 (L + ε). */
    public long twoLeasesNs() {
        return 2 * oneLeaseNs();
    }
}
