package org.rowankv.bench.micro;

import java.util.Comparator;
import java.util.List;
import org.openjdk.jmh.results.RunResult;

/**
 * One cell of the table.
 *
 * @param ns of the calling thread per operation: the median of the iterations
 * @param threads that called at once
 * @param callerNs of CPU of the calling threads per operation
 * @param cpuNs of CPU of the whole process per operation
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

    /** The one with the median time, of the rounds of one cell; with an even number the slower of the two in the middle. */
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

    /** Whether a single caller waited for a processor: it took much longer than it computed. */
    boolean wasDisturbed() {
        return threads == 1 && ns > 1.15 * callerNs;
    }

    public double millionsPerSecond() {
        return 1e3 * threads / ns;
    }
}
