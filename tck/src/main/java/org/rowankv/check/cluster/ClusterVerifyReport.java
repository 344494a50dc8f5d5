package org.rowankv.check.cluster;

import java.util.ArrayList;
import java.util.List;

/**
 * What a run found.
 *
 * @param anomalies each as text for people; empty when all is well
 * @param exceptions that the applications met
 * @param unknown operations whose outcome was told to be unknown; judged as what may have happened or not
 * @param swaps times that primaries were swapped
 */
public record ClusterVerifyReport(
        long operations,
        long reconnects,
        long staleTerms,
        long joinedRetries,
        long unknown,
        long swaps,
        List<String> anomalies,
        List<String> exceptions) {
    public ClusterVerifyReport {
        anomalies = List.copyOf(anomalies);
        exceptions = List.copyOf(exceptions);
    }

    /** What has to happen for the run to show anything, and has not. */
    public List<String> neverHappened() {
        final List<String> never = new ArrayList<>();
        addIfZero(never, "operations", operations);
        addIfZero(never, "reconnects", reconnects);
        addIfZero(never, "stale_terms", staleTerms);
        addIfZero(never, "retries_joined", joinedRetries);
        addIfZero(never, "swaps", swaps);
        return never;
    }

    private static void addIfZero(List<String> never, String name, long count) {
        if (count == 0) {
            never.add(name);
        }
    }

    public boolean isWell() {
        return anomalies.isEmpty() && exceptions.isEmpty() && neverHappened().isEmpty();
    }

    /** The command's last line. */
    public String line() {
        return "verify: operations=" + operations + " reconnects=" + reconnects + " stale_terms=" + staleTerms
                + " retries_joined=" + joinedRetries + " anomalies=" + anomalies.size() + " app_exceptions="
                + exceptions.size();
    }
}
