package org.rowankv.check.crash;

import java.util.List;

/**
 * What a run of rounds found.
 *
 * @param rounds how many were made
 * @param acked operations that were acknowledged
 * @param lost acknowledged states that were gone, on a server or after reopening
 * @param resurrected objects that were there although their removal was acknowledged
 * @param problems everything that was wrong, for people; empty when all is well
 */
public record CrashReport(int rounds, long acked, long lost, long resurrected, List<String> problems) {
    public CrashReport {
        problems = List.copyOf(problems);
    }
}
