package org.rowankv.check.chaos;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Result of a run of {@code chaos}.
 *
 * @param needsAll whether a kind that never happened makes the run worthless
 * @param survived faults after which the cluster was whole again
 * @param events changes that a subscriber has received
 * @param eventsLost losses that were reported to it, each of one shard
 * @param failedWhileDown operations that failed while no server could answer them
 * @param calm of a run without faults; else null
 */
public record ChaosReport(
        List<FaultOutcomeCount> counts,
        long operations,
        long lost,
        long doubled,
        long stale,
        long unexplained,
        long appExceptions,
        long events,
        long eventsLost,
        long failedWhileDown,
        long survived,
        boolean needsAll,
        @Nullable Calm calm) {
    /**
     * What a time without faults has shown.
     *
     * @param exclusions of servers that nothing had happened to
     * @param renewals of leases
     * @param halfMs at least so much was left of the lease in half of the renewals, in ms, by the metric's buckets
     * @param hundredthMs in all but a hundredth of them
     * @param thousandthMs in all but a thousandth
     */
    public record Calm(long exclusions, long renewals, long halfMs, long hundredthMs, long thousandthMs) {
        String text() {
            return " exclusions=" + exclusions + " renewals=" + renewals + " lease_margin_ms p50=" + halfMs + " p1="
                    + hundredthMs + " p0.1=" + thousandthMs;
        }
    }

    /** How often a kind of fault happened. */
    public record FaultOutcomeCount(ChaosFault kind, long count) {}

    public ChaosReport {
        counts = List.copyOf(counts);
    }

    /** Number of faults, without controls. */
    public long faults() {
        return counts.stream()
                .filter(each -> each.kind() != ChaosFault.CONTROL)
                .mapToLong(FaultOutcomeCount::count)
                .sum();
    }

    public boolean isWell() {
        return lost + doubled + stale + unexplained + appExceptions == 0
                && survived == faults()
                && operations > 0
                && (calm == null || calm.exclusions() == 0 && calm.renewals() > 0)
                && (!needsAll || neverHappened().isEmpty());
    }

    /** Kinds of faults that the run was too short for. */
    public List<ChaosFault> neverHappened() {
        return counts.stream()
                .filter(each -> each.count() == 0)
                .map(FaultOutcomeCount::kind)
                .toList();
    }

    public String line() {
        final StringBuilder line = new StringBuilder("chaos: faults=" + faults());
        counts.forEach(each ->
                line.append(String.format(Locale.ROOT, " %s=%d", each.kind().reportName(), each.count())));
        return line + " operations=" + operations + " lost=" + lost + " doubled=" + doubled + " stale=" + stale
                + " unexplained=" + unexplained + " app_exceptions=" + appExceptions + " events=" + events
                + " events_lost=" + eventsLost + " failed_while_down=" + failedWhileDown + " survived=" + survived
                + (calm == null ? "" : calm.text());
    }
}
