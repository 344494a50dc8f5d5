package org.rowankv.check.crash;

import java.util.List;

/**
 * Result of a crash check.
 *
 * @param rounds number of rounds
 * @param acked operations that were acknowledged
 * @param lost acknowledged states that were missing, on a server or after reopening
 * @param resurrected objects present although their removal was acknowledged
 * @param problems all findings, as text; empty when there are none
 */
public record CrashReport(int rounds, long acked, long lost, long resurrected, List<String> problems) {
    public CrashReport {
        problems = List.copyOf(problems);
    }
}
