package org.rowankv.bench.micro;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.runner.RunnerException;

/** Sequential measurement of cells, each in its own JVM that has loaded nothing else. */
final class MicroRun {
    private final MicroSettings settings;
    private final PrintStream out;

    MicroRun(MicroSettings settings, PrintStream out) {
        this.settings = settings;
        this.out = out;
    }

    Measurement floor(String operation, int threads) throws RunnerException {
        return measure(FloorBenchmark.class, operation, threads, 0);
    }

    Measurement embedded(String operation, int replicas, int threads) throws RunnerException {
        return measure(EmbeddedBenchmark.class, operation, threads, replicas);
    }

    private Measurement measure(Class<?> benchmark, String operation, int threads, int replicas)
            throws RunnerException {
        final long startNs = System.nanoTime();
        final Measurement measurement = ForkedCell.measure(settings, benchmark, operation, threads, options -> {
            if (replicas > 0) {
                options.param("replicas", String.valueOf(replicas));
            }
        });
        out.printf(
                Locale.ROOT,
                "  %-5s %-10s %d thread%s %9.1f ns/op %6.2f M/s   cpu: caller %7.1f  all %7.1f ns/op  %6.3f B/op  (%.0f s)%n",
                operation,
                replicas == 0 ? "floor" : replicas + " replica" + (replicas > 1 ? "s" : ""),
                threads,
                threads > 1 ? "s" : " ",
                measurement.ns(),
                measurement.millionsPerSecond(),
                measurement.callerNs(),
                measurement.cpuNs(),
                measurement.allocatedBytes(),
                (System.nanoTime() - startNs) / 1e9);
        out.flush();
        return measurement;
    }

    /** Index bytes per entry, of a store with many entries. */
    double indexBytesPerEntry() throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(settings.java().toString()));
        command.addAll(List.of(ForkedCell.JVM_ARGUMENTS));
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                IndexSize.class.getName(),
                String.valueOf(settings.indexEntries())));
        final Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        double bytesPerEntry = Double.NaN;
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(IndexSize.PREFIX)) {
                    bytesPerEntry = Double.parseDouble(line.substring(IndexSize.PREFIX.length()));
                } else {
                    out.println("  " + line);
                }
            }
        }
        if (process.waitFor() != 0 || Double.isNaN(bytesPerEntry)) {
            throw new IllegalStateException("the size of the index could not be measured");
        }
        return bytesPerEntry;
    }
}
