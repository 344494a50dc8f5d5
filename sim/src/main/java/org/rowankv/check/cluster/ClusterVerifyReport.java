package org.rowankv.check.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.rowankv.check.disturb.Disturbance;

/**
 * Result of a run of {@code verify --cluster}.
 *
 * @param disturbances count of each requested disturbance
 * @param refused operations that certainly had no effect, as their replies said
 * @param unknown operations whose reply was an unknown outcome; the checker allows both results
 * @param mostUnknown upper bound of unknown outcomes, given the faults
 * @param anomalies as text, one each; empty when the history is explained
 * @param exceptions that no application should see
 */
public record ClusterVerifyReport(
        long operations,
        long reconnects,
        long staleTerms,
        long joinedRetries,
        Map<Disturbance, Long> disturbances,
        long refused,
        long unknown,
        long mostUnknown,
        List<String> anomalies,
        List<String> exceptions) {
    public ClusterVerifyReport {
        disturbances = Map.copyOf(disturbances);
        anomalies = List.copyOf(anomalies);
        exceptions = List.copyOf(exceptions);
    }

    /** Preconditions of a meaningful run that were not met. */
    public List<String> neverHappened() {
        final List<String> never = new ArrayList<>();
        addIfZero(never, "operations", operations);
        if (disturbances.containsKey(Disturbance.CUTS)) {
            addIfZero(never, "reconnects", reconnects);
            addIfZero(never, "retries_joined", joinedRetries);
        }
        if (disturbances.containsKey(Disturbance.SWAPS)) {
            addIfZero(never, "stale_terms", staleTerms);
        }
        for (Disturbance each : Disturbance.values()) {
            addIfZero(never, each.reportName(), disturbances.getOrDefault(each, 1L));
        }
        return never;
    }

    private static void addIfZero(List<String> never, String name, long count) {
        if (count == 0) {
            never.add(name);
        }
    }

    /** Whether unknown outcomes exceed the bound: then too many explanations of a reply are open. */
    public boolean isTooOftenUnknown() {
        return unknown > mostUnknown;
    }

    public boolean isWell() {
        return anomalies.isEmpty() && exceptions.isEmpty() && neverHappened().isEmpty() && !isTooOftenUnknown();
    }

    public String line() {
        final StringBuilder line = new StringBuilder("verify: operations=" + operations + " reconnects=" + reconnects
                + " stale_terms=" + staleTerms + " retries_joined=" + joinedRetries);
        for (Disturbance each : Disturbance.values()) {
            line.append(' ').append(each.reportName()).append('=').append(disturbances.getOrDefault(each, 0L));
        }
        return line + " refused=" + refused + " unknown=" + unknown + " anomalies=" + anomalies.size()
                + " app_exceptions=" + exceptions.size();
    }
}
