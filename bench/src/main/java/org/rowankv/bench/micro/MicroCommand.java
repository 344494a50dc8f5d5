package org.rowankv.bench.micro;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.runner.RunnerException;
import org.rowankv.bench.report.KeySpace;
import org.rowankv.bench.report.TargetTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan bench micro}: embedded get and put compared with their floors, in one run. */
@Command(
        name = "micro",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures get and put of the native client on servers in the JVM, compared with a hash map, a copy and a checksum"
                    + " in the same run: uniform keys, values of 100 bytes, one JVM per cell, one cell at a time.",
            "Each line of the last table shows the target and whether it was met; the exit code is 0 either way."
        })
public final class MicroCommand implements Callable<Integer> {
    @Option(names = "--quick", description = "fewer keys, shorter iterations: under two minutes, for orientation only")
    private boolean quick;

    @Option(names = "--keys", description = "objects in the store (default: ${DEFAULT-VALUE})")
    private int keys = 1_000_000;

    @Option(names = "--jvm", description = "home of the JDK to measure on (default: the one that runs this command)")
    private @Nullable Path jvm;

    @Override
    public Integer call() throws RunnerException, IOException, InterruptedException {
        final Path home = jvm == null ? Path.of(System.getProperty("java.home")) : jvm;
        final Path java = home.resolve("bin").resolve("java");
        if (!Files.isExecutable(java)) {
            System.err.println("bench: there is no JDK in " + home + ": " + java + " cannot be run");
            return 2;
        }
        final MicroSettings settings = quick ? MicroSettings.quick(java) : MicroSettings.thorough(java, keys);
        final PrintStream out = System.out;
        out.println("bench micro: " + settings.keys() + " keys, values of " + KeySpace.VALUE_LENGTH + " bytes, "
                + Runtime.getRuntime().availableProcessors() + " processors, " + java);
        final MicroRun run = new MicroRun(settings, out);
        final TargetTable table = new TargetTable(out);
        final Measurement getFloor = run.floor("get", 1);
        final Measurement getFloor2 = run.floor("get", 2);
        final Measurement putFloor = run.floor("put", 1);
        final Measurement putFloor2 = run.floor("put", 2);
        final Measurement get = run.embedded("get", 1, 1);
        final Measurement get2 = run.embedded("get", 1, 2);
        final Measurement getOf3 = run.embedded("get", 3, 1);
        final Measurement getOf3With2 = run.embedded("get", 3, 2);
        final Measurement put = run.embedded("put", 1, 1);
        final Measurement put2 = run.embedded("put", 1, 2);
        final Measurement putOf3 = run.embedded("put", 3, 1);
        final Measurement putOf3With2 = run.embedded("put", 3, 2);
        final double indexBytes = run.indexBytesPerEntry();

        out.println();
        table.atMost(
                "get, 1 replica, in get floors", get.ns() / getFloor.ns(), get.callerNs() / getFloor.callerNs(), 3);
        table.shown("get, 3 replicas, in get floors", getOf3.ns() / getFloor.ns(), "x");
        table.atMost(
                "put, 1 replica, in put floors", put.ns() / putFloor.ns(), put.callerNs() / putFloor.callerNs(), 4);
        table.atMost(
                "each further replica of a put, in put floors of the caller's time",
                (putOf3.ns() - put.ns()) / 2 / putFloor.ns(),
                (putOf3.callerNs() - put.callerNs()) / 2 / putFloor.callerNs(),
                1);
        table.atLeast("get, 1 replica: two threads against one", scale(get, get2), 1.7, "x");
        table.atLeast("put, 1 replica: two threads against one", scale(put, put2), 1.7, "x");
        table.shown("get floor: two threads against one", scale(getFloor, getFloor2), "x");
        table.shown("put floor: two threads against one", scale(putFloor, putFloor2), "x");
        table.shown("get, 3 replicas: two threads against one", scale(getOf3, getOf3With2), "x");
        table.shown("put, 3 replicas: two threads against one", scale(putOf3, putOf3With2), "x");
        table.atMost("get allocates", get.allocatedBytes(), 1, "B/op");
        table.atMost("put, 1 replica, allocates", put.allocatedBytes(), 1, "B/op");
        table.atMost("put, 3 replicas, allocates", putOf3.allocatedBytes(), 1, "B/op");
        table.atMost("index, of " + settings.indexEntries() + " entries", indexBytes, 16, "B");
        table.shown("put, 1 replica: CPU with all agents", put.cpuNs(), "ns/op");
        table.shown("put, 3 replicas: CPU with all agents", putOf3.cpuNs(), "ns/op");
        if (getFloor.wasDisturbed() || putFloor.wasDisturbed() || get.wasDisturbed()) {
            out.println(
                    "bench micro: other processes used the processors meanwhile: times per operation, and above all the scaling"
                            + " to two threads, are unreliable");
        }
        out.println("bench micro: " + (table.missed() == 0 ? "all targets reached" : table.missed() + " targets missed")
                + (quick ? " (a quick run: for orientation only)" : ""));
        return 0;
    }

    private static double scale(Measurement one, Measurement two) {
        return two.millionsPerSecond() / one.millionsPerSecond();
    }
}
