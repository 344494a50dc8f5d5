package org.rowankv.tck;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.cluster.JavaOptions;
import org.rowankv.check.local.DeviceCluster;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.Launch;
import org.rowankv.server.membership.FabricKind;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code rowan tck}: runs the official TCK of JSR-107 1.1.1 against the embedded form and over client ports, each run
 * in its own JVM. The exit code is 0 only if every run has exactly the expected counts.
 */
@Command(
        name = "tck",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs the official JSR-107 TCK 1.1.1 against one server inside the JVM, against three with three"
                    + " replicas and near=validated, and against three over client ports.",
            "With --cluster: once, against three server processes with three replicas.",
            "With --fabric: once, against three servers in a JVM with RDMA devices of a model between them.",
            "A line before each run describes the store. The last line of each run is \"tck: run=479 failures=0"
                    + " errors=0 skipped=13\", with --annotations \"tck-annotations: run=12 failures=0 errors=0"
                    + " skipped=0\"; any other result exits non-zero."
        })
public final class TckCommand implements Callable<Integer> {
    private static final List<List<String>> RUNS = List.of(
            List.of("--servers", "1"), List.of("--servers", "3", "--near"), List.of("--servers", "3", "--ports"));

    private static final int CLUSTER_SERVERS = 3;
    private static final String CLUSTER_CAPACITY = "128m";
    private static final String LOG_LEVEL = "rowan.log.level";

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--servers",
            description = "servers in the JVM, and replicas of each object (default: one run with 1, one with 3 and"
                    + " --near, one with 3 over client ports)")
    private @Nullable Integer servers;

    @Option(names = "--ports", description = "reach the servers over client ports; with --servers")
    private boolean ports;

    @Option(names = "--near", description = "keep decoded values that are proved current at each use; with --servers")
    private boolean near;

    @Option(
            names = "--cluster",
            description =
                    "run against three server processes with three replicas and a ZooKeeper, started for this run")
    private boolean cluster;

    @Option(
            names = "--fabric",
            paramLabel = "MODE",
            converter = OfMode.class,
            description =
                    "run against three servers in the JVM with three replicas, over client ports; between them is the"
                            + " fabric rdma on a model of devices, in the mode landed or leased")
    private @Nullable FabricKind fabric;

    @Mixin
    private JavaOptions javas;

    @Option(names = "--annotations", description = "run the annotation tests instead")
    private boolean annotations;

    @Option(
            names = "--only",
            description = "run only the test classes whose names contain this; then nothing may fail, and no number is"
                    + " expected")
    private String only = "";

    @Option(names = "--verbose", description = "list the skipped tests")
    private boolean verbose;

    private final PrintStream out = System.out;

    private static final class OfMode implements CommandLine.ITypeConverter<FabricKind> {
        @Override
        public FabricKind convert(String value) {
            return switch (value) {
                case "landed" -> FabricKind.RDMA_LANDED;
                case "leased" -> FabricKind.RDMA_LEASED;
                default -> throw new CommandLine.TypeConversionException("it is landed or leased, not '" + value + "'");
            };
        }
    }

    public static void main(String[] arguments) {
        // The TCK opens hundreds of stores, each of which would log its opening.
        if (System.getProperty(LOG_LEVEL) == null) {
            System.setProperty(LOG_LEVEL, "warn");
        }
        System.exit(new CommandLine(new TckCommand()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        final TckPart part = annotations ? TckPart.ANNOTATIONS : TckPart.CACHING;
        final List<Class<?>> testClasses = part.testClasses(only);
        if (testClasses.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--only " + only + " leaves no test class of this part; list the names without it");
        }
        if (servers == null && (ports || near)) {
            throw new ParameterException(spec.commandLine(), "--ports and --near need --servers");
        }
        if (ports && near) {
            throw new ParameterException(
                    spec.commandLine(), "--near is for servers in this JVM, which --ports does not use as such");
        }
        if (cluster && servers != null) {
            throw new ParameterException(
                    spec.commandLine(), "--cluster has " + CLUSTER_SERVERS + " servers: leave --servers out");
        }
        if (fabric != null && (cluster || servers != null)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--fabric has " + CLUSTER_SERVERS + " servers: leave --servers and --cluster out");
        }
        if (fabric != null) {
            return runOverDevices(part, fabric, testClasses);
        }
        if (cluster) {
            return runAgainstProcesses(part, testClasses);
        }
        if (servers != null) {
            return run(part, servers, testClasses);
        }
        int exitCode = 0;
        for (List<String> each : RUNS) {
            exitCode = Math.max(exitCode, runInAJvmOfItsOwn(Launch.DEFAULT.java(), each));
        }
        return exitCode;
    }

    private int run(TckPart part, int count, List<Class<?>> testClasses) {
        final TckRun run = new TckRun(count, ports, near, testClasses);
        try {
            run.describe(part.label(), out);
        } catch (CacheException e) {
            throw new ParameterException(
                    spec.commandLine(), "--servers " + count + " makes no store: " + e.getMessage(), e);
        }
        return check(part, run.run());
    }

    private int runOverDevices(TckPart part, FabricKind kind, List<Class<?>> testClasses) throws IOException {
        try (DeviceCluster devices = DeviceCluster.start(kind, CLUSTER_SERVERS)) {
            final TckRun run = new TckRun(devices, testClasses);
            run.describe(part.label(), out);
            final int exitCode = check(part, run.run());
            devices.errors().forEach(error -> out.println("a server reported: " + error));
            return devices.errors().isEmpty() ? exitCode : 1;
        }
    }

    /** {@code --client-java}: this JVM is the client, so the whole command runs on another Java. */
    private int runAgainstProcesses(TckPart part, List<Class<?>> testClasses) throws IOException, InterruptedException {
        final Path client;
        final Launch launch;
        try {
            client = javas.client();
            launch = javas.servers();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        if (!client.equals(Launch.DEFAULT.java())) {
            return runInAJvmOfItsOwn(client, List.of());
        }
        try (TemporaryCluster servers =
                TemporaryCluster.start("tck", CLUSTER_SERVERS, CLUSTER_SERVERS, CLUSTER_CAPACITY, launch)) {
            final TckRun run = new TckRun(servers, testClasses);
            run.describe(part.label(), out);
            return check(part, run.run());
        }
    }

    private int check(TckPart part, TckTally tally) {
        tally.problems().forEach(out::println);
        if (verbose) {
            tally.skippedNames().forEach(name -> out.println("skipped: " + name));
        }
        final boolean well = only.isEmpty() ? part.isMetBy(tally) : tally.isClean();
        if (!well && tally.isClean()) {
            out.println(part.label() + ": expected was " + part.expected());
        }
        out.println(part.label() + ": " + tally.counts());
        out.flush();
        return well ? 0 : 1;
    }

    /** Runs the same command with its options, under this JVM's own, against one store. */
    private int runInAJvmOfItsOwn(Path java, List<String> store) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>();
        command.add(java.toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), TckCommand.class.getName()));
        command.addAll(store);
        command.addAll(spec.commandLine().getParseResult().originalArgs());
        javas.withoutClient(command);
        out.flush();
        final Process process = new ProcessBuilder(command).inheritIO().start();
        final Thread ending = new Thread(process::destroyForcibly, "rowan-tck-ends");
        Runtime.getRuntime().addShutdownHook(ending);
        final int exitCode = process.waitFor();
        Runtime.getRuntime().removeShutdownHook(ending);
        return exitCode;
    }
}
