package org.rowankv.bench.micro;

import java.util.function.Consumer;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/** One table cell: one benchmark method, measured in its own JVM that has loaded nothing else. */
public final class ForkedCell {
    static final String[] JVM_ARGUMENTS = {
        "-Xms3g", "-Xmx3g", "-XX:MaxDirectMemorySize=8g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
    };

    private ForkedCell() {}

    /** @param more parameters of the benchmark besides {@code keyCount} */
    public static Measurement measure(
            MicroSettings settings,
            Class<?> benchmark,
            String operation,
            int threads,
            Consumer<ChainedOptionsBuilder> more)
            throws RunnerException {
        final ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^" + benchmark.getName().replace(".", "\\.") + "\\." + operation + "$")
                .param("keyCount", String.valueOf(settings.keys()))
                .threads(threads)
                .forks(1)
                .jvm(settings.java().toString())
                .jvmArgs(JVM_ARGUMENTS)
                .warmupIterations(settings.warmups())
                .warmupTime(settings.iterationTime())
                .measurementIterations(settings.iterations())
                .measurementTime(settings.iterationTime())
                .addProfiler(GCProfiler.class)
                .addProfiler(CpuProfiler.class)
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT);
        more.accept(options);
        return Measurement.of(new Runner(options.build()).runSingle(), threads);
    }
}
