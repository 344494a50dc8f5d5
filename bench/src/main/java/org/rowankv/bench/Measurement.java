package org.rowankv.bench;

import java.util.Map;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/**
 * One cell of the table.
 *
 * @param ns of the calling thread per operation: the median of the iterations
 * @param threads that called at once
 * @param cpuNs of the whole process per operation
 * @param allocatedBytes per operation
 */
record Measurement(double ns, int threads, double cpuNs, double allocatedBytes) {
    private static final String ALLOCATED = "gc.alloc.rate.norm";
    private static final int MEDIAN = 50;

    static Measurement of(RunResult result, int threads) {
        return new Measurement(
                result.getPrimaryResult().getStatistics().getPercentile(MEDIAN),
                threads,
                secondary(result, CpuProfiler.LABEL),
                secondary(result, ALLOCATED));
    }

    private static double secondary(RunResult result, String label) {
        for (Map.Entry<String, ? extends Result<?>> entry :
                result.getSecondaryResults().entrySet()) {
            if (entry.getKey().endsWith(label)) {
                return entry.getValue().getScore();
            }
        }
        throw new IllegalStateException("the benchmark has no result called " + label);
    }

    double millionsPerSecond() {
        return 1e3 * threads / ns;
    }
}
