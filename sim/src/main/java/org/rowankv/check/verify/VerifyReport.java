package org.rowankv.check.verify;

import java.util.List;
import java.util.Map;

/**
 * Result of a run of {@code verify}.
 *
 * @param operations number of checked operations
 * @param windows number of pauses with a check
 * @param anomalies as text, one each; empty when the history is explained
 * @param counts of events, by "group.name"
 */
public record VerifyReport(long operations, long windows, List<String> anomalies, Map<String, Long> counts) {
    public VerifyReport {
        anomalies = List.copyOf(anomalies);
    }

    /** A count; 0 when the event never happened. */
    public long count(String name) {
        return counts.getOrDefault(name, 0L);
    }
}
