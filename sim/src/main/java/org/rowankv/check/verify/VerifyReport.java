package org.rowankv.check.verify;

import java.util.List;
import java.util.Map;

/**
 * What a run found.
 *
 * @param operations how many were asked and judged
 * @param windows how many times the callers rested and were judged
 * @param anomalies each as text for people; empty when all is well
 * @param counts of what happened, by "group.name"
 */
public record VerifyReport(long operations, long windows, List<String> anomalies, Map<String, Long> counts) {
    public VerifyReport {
        anomalies = List.copyOf(anomalies);
    }

    /** A count, 0 when it never happened. */
    public long count(String name) {
        return counts.getOrDefault(name, 0L);
    }
}
