package org.rowankv.check;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.rowankv.check.client.QuietLogs;
import org.rowankv.check.cluster.ClusterQuickstartStore;
import org.rowankv.check.cluster.JavaOptions;
import org.rowankv.check.disturb.ClusterProcesses;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.Launch;
import org.rowankv.samples.quickstart.QuickstartRun;
import org.rowankv.tools.StoreCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan quickstart --cluster}: the quickstart against server processes. */
@Command(
        name = "quickstart --cluster",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts a ZooKeeper and three server processes on this machine, in a temporary directory; caches every class"
                    + " file of this JDK in them through JCache and a rowan:// URI, three replicas of each; reads all back,"
                    + " updates a part, removes a part; stops and starts all servers; checks every object again in a new"
                    + " process; stops everything, and compares the files of the three servers.",
            "With --lose one server is killed when half of the objects are put, and does not return: nothing is lost, and the"
                    + " last line is the same.",
            "The last line is \"quickstart: objects=N verified=N reopened=N mismatches=0 replicas_agree=true\"; any other"
                    + " result exits non-zero, and the directory is kept."
        })
public final class ClusterQuickstartCommand implements Callable<Integer> {
    private static final int SERVERS = 3;
    private static final int REPLICAS = 3;

    @Spec
    private CommandSpec spec;

    @Option(names = "--cluster", required = true, description = "run against server processes")
    @SuppressWarnings("UnusedVariable") // distinguishes the two forms
    private boolean cluster;

    @Option(names = "--objects", description = "maximum number of objects (default: all)")
    private long limit = Long.MAX_VALUE;

    @Option(
            names = "--lose",
            paramLabel = "SERVER",
            description = "kill server-1, server-2, server-3 or the manager halfway",
            defaultValue = "")
    private String toLose;

    @Mixin
    private JavaOptions javas;

    public static void main(String[] arguments) {
        QuietLogs.setUp();
        System.exit(StoreCommand.line(new ClusterQuickstartCommand()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        final Launch launch;
        final Path client;
        try {
            launch = javas.servers();
            client = javas.client();
            if (!toLose.isEmpty()) {
                ClusterProcesses.requireName("--lose", toLose, SERVERS);
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        final QuickstartRun run = new QuickstartRun(limit, client, System.out);
        System.out.println("starting a ZooKeeper and " + SERVERS + " servers");
        try (TemporaryCluster servers =
                TemporaryCluster.start("quickstart", SERVERS, REPLICAS, (run.capacityBytes() >> 20) + "m", launch)) {
            boolean well = false;
            try {
                final Path manifest = servers.dir().resolve("manifest.txt");
                well = run.run(new ClusterQuickstartStore(servers, toLose), manifest);
            } finally {
                if (!well) {
                    servers.keep();
                    System.out.flush();
                    System.err.println("quickstart: the directory of the cluster is kept: " + servers.dir());
                }
            }
            return well ? 0 : 1;
        }
    }
}
