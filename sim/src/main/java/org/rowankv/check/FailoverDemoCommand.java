package org.rowankv.check;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.rowankv.check.client.QuietLogs;
import org.rowankv.check.cluster.JavaOptions;
import org.rowankv.check.demo.FailoverDemo;
import org.rowankv.check.disturb.ClusterProcesses;
import org.rowankv.daemon.Launch;
import org.rowankv.tools.StoreCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan demo failover}: an application while a server dies and returns. */
@Command(
        name = "demo failover",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts a ZooKeeper and three server processes with two replicas, and an application whose threads put and get"
                    + " through javax.cache. A fifth into the time a server is killed, three fifths into it the server"
                    + " returns. A line per second shows the throughput, errors, and what the cluster does.",
            "The last line is \"failover: operations=N longest_gap_ms=N failures=0 wrong=0 whole=true\": the longest wait of a"
                    + " thread, operations that threw, reads that returned something else than was put, and whether all replicas"
                    + " are complete again. The exit code is non-zero for any other, not if it took long."
        })
public final class FailoverDemoCommand implements Callable<Integer> {
    private static final int LEAST_SECONDS = 5;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--server",
            paramLabel = "NAME",
            description = "server-1, server-2, server-3 or manager (${DEFAULT-VALUE})",
            defaultValue = "server-2")
    private String server;

    @Option(names = "--seconds", description = "length, at least 5 (${DEFAULT-VALUE})", defaultValue = "25")
    private int seconds;

    @Mixin
    private JavaOptions javas;

    public static void main(String[] arguments) {
        QuietLogs.setUpForFaults();
        System.exit(StoreCommand.line(new FailoverDemoCommand()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        final Launch launch;
        try {
            launch = javas.servers();
            ClusterProcesses.requireName("--server", server, FailoverDemo.SERVERS);
            if (seconds < LEAST_SECONDS) {
                throw new IllegalArgumentException(
                        "--seconds is " + seconds + ", and has to be at least " + LEAST_SECONDS);
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        return new FailoverDemo(server, seconds, launch.withServerOptions("--shards=12"), System.out).run() ? 0 : 1;
    }
}
