package org.rowankv.daemon.local;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.StatusCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan cluster}: a cluster of processes on this machine. */
@Command(
        name = "cluster",
        mixinStandardHelpOptions = true,
        subcommands = {ClusterCommand.Start.class, ClusterCommand.Status.class, ClusterCommand.Stop.class},
        description =
                "A cluster of server processes on this machine, with its own ZooKeeper: for development and tests.")
public final class ClusterCommand implements Callable<Integer> {
    private static final int EXIT_FAILED = 1;

    @Spec
    private CommandSpec spec;

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new ClusterCommand()).execute(arguments));
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getErr());
        return CommandLine.ExitCode.USAGE;
    }

    /** Common options and error handling of the subcommands. */
    abstract static class OfDirectory implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Option(names = "--dir", required = true, description = "directory of the cluster")
        private Path dir;

        final Path dir() {
            return dir;
        }

        final void say(String line) {
            spec.commandLine().getOut().println(line);
            spec.commandLine().getOut().flush();
        }

        @Override
        public final Integer call() {
            try {
                return run();
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
            } catch (IOException e) {
                spec.commandLine().getErr().println(e.getMessage());
                return EXIT_FAILED;
            }
        }

        abstract int run() throws IOException;
    }

    /** Starts the processes that do not run, and waits until all serve. */
    @Command(
            name = "start",
            mixinStandardHelpOptions = true,
            sortOptions = false,
            description = {
                "Starts a ZooKeeper and servers, unless they run, and waits until all serve. The options of the first start"
                        + " in a directory are stored there and apply to all later starts.",
                "Its last line is \"cluster: servers=N address=HOST:PORT,… zookeeper=HOST:PORT\". Exit codes: 0; 1 if not all"
                        + " servers serve; 2 for a usage error."
            })
    static final class Start extends OfDirectory {
        @Option(names = "--servers", defaultValue = "3", description = "number of servers (${DEFAULT-VALUE})")
        private int servers;

        @Option(
                names = "--replicas",
                defaultValue = "0",
                description = "copies of every object (2, or 1 with one server)")
        private int replicas;

        @Option(names = "--capacity", defaultValue = "256m", description = "capacity of each server (${DEFAULT-VALUE})")
        private String capacity;

        @Option(
                names = "--port",
                defaultValue = "7170",
                description = "port of ZooKeeper; each server uses the next three (${DEFAULT-VALUE})")
        private int port;

        @Option(
                names = "--server-java",
                paramLabel = "FILE",
                description = "java program for the started processes, of a JDK from 17 on (this Java)")
        private @Nullable Path serverJava;

        @Option(names = "--wait", defaultValue = "60", description = "seconds to wait at most (${DEFAULT-VALUE})")
        private int waitSeconds;

        @Override
        int run() throws IOException {
            final Launch launch =
                    serverJava == null ? Launch.DEFAULT : Launch.DEFAULT.withJava(serverJava, "--server-java");
            final LocalCluster cluster = LocalCluster.openOrMake(
                            dir(),
                            new LocalCluster.Shape(
                                    servers, replicas == 0 ? Math.min(2, servers) : replicas, capacity, port))
                    .launchedBy(launch);
            cluster.start();
            final String problem = cluster.awaitServing(waitSeconds * 1000L);
            if (!problem.isEmpty()) {
                throw new IOException("the cluster in " + dir() + " does not serve: " + problem);
            }
            final StringBuilder addresses = new StringBuilder();
            for (int server = 0; server < cluster.shape().servers(); server++) {
                addresses.append(server == 0 ? "" : ",").append(cluster.clientsOf(server));
            }
            say("cluster: servers=" + cluster.shape().servers() + " address=" + addresses + " zookeeper="
                    + cluster.zooKeeperAddress());
            return CommandLine.ExitCode.OK;
        }
    }

    /** As {@code rowan status}. */
    @Command(
            name = "status",
            mixinStandardHelpOptions = true,
            sortOptions = false,
            description = "As \"rowan status\", for the cluster in a directory.")
    static final class Status extends OfDirectory {
        @Option(names = "--json", description = "as JSON")
        private boolean json;

        @Override
        int run() throws IOException {
            final LocalCluster cluster = LocalCluster.open(dir());
            final CommandLine line = new CommandLine(new StatusCommand());
            return json
                    ? line.execute(
                            "--zookeeper", cluster.zooKeeperAddress(), "--cluster", LocalCluster.CLUSTER, "--json")
                    : line.execute("--zookeeper", cluster.zooKeeperAddress(), "--cluster", LocalCluster.CLUSTER);
        }
    }

    /** Stops all processes. */
    @Command(
            name = "stop",
            mixinStandardHelpOptions = true,
            sortOptions = false,
            description = {
                "Stops the servers, then ZooKeeper; their data stays in the directory.",
                "Exit codes: 0; 1 if a process had to be killed."
            })
    static final class Stop extends OfDirectory {
        @Override
        int run() throws IOException {
            final List<String> forced = LocalCluster.open(dir()).stop();
            say("cluster: stopped" + (forced.isEmpty() ? "" : ", by force: " + String.join(", ", forced)));
            return forced.isEmpty() ? CommandLine.ExitCode.OK : EXIT_FAILED;
        }
    }
}
