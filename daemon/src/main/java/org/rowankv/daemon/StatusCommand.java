package org.rowankv.daemon;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.membership.ClusterView;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code rowan status}: a cluster's term, servers, shards and replicas. */
@Command(
        name = "status",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Prints the configuration of a cluster, and the present state of each of its servers.",
            "Its last line is \"status: term=N servers=N serving=N degraded=N\", with read-only=N if N shards take no writes (not with --json or --metrics). Exit codes: 0; 1 if not all"
                    + " servers serve; 2 if there is no such cluster, or the configuration store does not answer."
        })
public final class StatusCommand implements Callable<Integer> {
    private static final int EXIT_NOT_ALL = 1;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ClusterOptions options;

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Option(names = "--shards", description = "add a line for each shard")
    private boolean shards;

    @Option(
            names = "--metrics",
            description =
                    "print the metrics of every server instead, as OpenMetrics text; the exit code is then 0 or 2")
    private boolean metrics;

    public static void main(String[] arguments) {
        System.exit(Commands.execute(new StatusCommand(), arguments));
    }

    @Override
    public Integer call() {
        final PrintWriter out = spec.commandLine().getOut();
        try (ZooKeeperConfigurationStore store = options.connect()) {
            final @Nullable ClusterView view = ClusterView.read(store, SecureSeed.source());
            if (view == null) {
                spec.commandLine().getErr().println("there is no cluster '" + options.cluster() + "' there");
                return CommandLine.ExitCode.USAGE;
            }
            if (metrics) {
                out.print(StatusMetrics.of(view));
                out.flush();
                return CommandLine.ExitCode.OK;
            }
            final StatusText text = new StatusText(options.cluster(), view);
            out.print(json ? text.json() + "\n" : text.text(shards));
            out.flush();
            return text.serving() == view.expected() ? CommandLine.ExitCode.OK : EXIT_NOT_ALL;
        } catch (ConfigurationStoreException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
    }
}
