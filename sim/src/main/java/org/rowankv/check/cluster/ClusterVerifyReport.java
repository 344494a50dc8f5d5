package org.rowankv.check.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.rowankv.check.disturb.Disturbance;

/**
 * What a run found.
 *
 * @param disturbances how often each that was asked for has happened
 * @param refused operations that had no effect for certain, and whose callers were told so
 * @param unknown operations whose outcome was told to be unknown; judged as what may have happened or not
 * @param mostUnknown how many of those the faults explain
 * @param anomalies each as text for people; empty when all is well
 * @param exceptions that no application should meet
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

    /** What has to happen for the run to show anything, and has not. */
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

    /** Whether more outcomes are unknown than the faults explain: then too many ways are open to explain an answer. */
    public boolean isTooOftenUnknown() {
        return unknown > mostUnknown;
    }

    public boolean isWell() {
        return anomalies.isEmpty() && exceptions.isEmpty() && neverHappened().isEmpty() && !isTooOftenUnknown();
    }

    /** The command's last line. */
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
