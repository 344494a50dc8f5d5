package org.rowankv.bench.micro;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Profiler of CPU time per operation: of the whole process, including agents, collector and compiler, and of the
 * calling threads alone. The latter is the cost to the caller, independent of the machine's load. Runs in the forked
 * JVM.
 */
public final class CpuProfiler implements InternalProfiler {
    static final String PROCESS = "cpu.process";
    static final String CALLERS = "cpu.callers";

    private static final String CALLER_THREADS = "-jmh-worker-";

    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long processNs;
    private long callersNs;

    @Override
    public String getDescription() {
        return "CPU time per operation, of the process and of the calling threads";
    }

    private long callersCpuNs() {
        long sum = 0;
        for (long id : threads.getAllThreadIds()) {
            final ThreadInfo info = threads.getThreadInfo(id);
            if (info != null && info.getThreadName().contains(CALLER_THREADS)) {
                sum += Math.max(0, threads.getThreadCpuTime(id));
            }
        }
        return sum;
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        callersNs = callersCpuNs();
        processNs = system.getProcessCpuTime();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        final double operations = Math.max(1, result.getMetadata().getAllOps());
        return List.of(
                perOperation(PROCESS, (system.getProcessCpuTime() - processNs) / operations),
                perOperation(CALLERS, (callersCpuNs() - callersNs) / operations));
    }

    private static ScalarResult perOperation(String label, double ns) {
        return new ScalarResult(label, ns, "ns/op", AggregationPolicy.AVG);
    }
}
