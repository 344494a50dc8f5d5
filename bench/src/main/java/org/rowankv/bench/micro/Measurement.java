package org.rowankv.bench.micro;

import java.util.Comparator;
import java.util.List;
import org.openjdk.jmh.results.RunResult;

/**
 * Result of one cell.
 *
 * @param ns time of the calling thread per operation: the median of the iterations
 * @param threads concurrent callers
 * @param callerNs CPU time of the calling threads per operation
 * @param cpuNs CPU time of the whole process per operation
 * @param allocatedBytes per operation
 */
public record Measurement(double ns, int threads, double callerNs, double cpuNs, double allocatedBytes) {
    private static final String ALLOCATED = "gc.alloc.rate.norm";
    private static final int MEDIAN = 50;

    static Measurement of(RunResult result, int threads) {
        return new Measurement(
                result.getPrimaryResult().getStatistics().getPercentile(MEDIAN),
                threads,
                secondary(result, CpuProfiler.CALLERS),
                secondary(result, CpuProfiler.PROCESS),
                secondary(result, ALLOCATED));
    }

    /** Returns the round with the median time; of an even number, the slower of the middle two. */
    public static Measurement median(List<Measurement> rounds) {
        return rounds.stream()
                .sorted(Comparator.comparingDouble(Measurement::ns))
                .skip(rounds.size() / 2)
                .findFirst()
                .orElseThrow();
    }

    private static double secondary(RunResult result, String label) {
        for (String name : result.getSecondaryResults().keySet()) {
            if (name.endsWith(label)) {
                return result.getSecondaryResults().get(name).getScore();
            }
        }
        throw new IllegalStateException("the benchmark has no result called " + label);
    }

    /** Whether a single caller waited for a processor: elapsed time far above CPU time. */
    boolean wasDisturbed() {
        return threads == 1 && ns > 1.15 * callerNs;
    }

    public double millionsPerSecond() {
        return 1e3 * threads / ns;
    }
}
