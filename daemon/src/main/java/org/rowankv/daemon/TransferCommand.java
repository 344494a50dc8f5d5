package org.rowankv.daemon;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.server.membership.PrimaryTransfer;
import org.rowankv.topology.Configuration;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code rowan transfer}: transfers the primary role of a shard. */
@Command(
        name = "transfer",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Makes a backup of a shard its primary, and the primary a backup, while all servers run.",
            "Prints the term of the configuration. Exit codes: 0; 1 if the shard cannot be transferred to that server, or is"
                    + " not within a minute; 2 if the configuration store does not answer, or for a usage error."
        })
public final class TransferCommand implements Callable<Integer> {
    private static final int EXIT_REFUSED = 1;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ClusterOptions options;

    @Option(names = "--shard", required = true, description = "number of the shard")
    private int shard;

    @Option(names = "--to", paramLabel = "NAME", description = "server that becomes primary (its first backup)")
    private @Nullable String to;

    public static void main(String[] arguments) {
        System.exit(Commands.execute(new TransferCommand(), arguments));
    }

    @Override
    public Integer call() {
        try (ZooKeeperConfigurationStore store = options.connect()) {
            final Configuration next = new PrimaryTransfer(
                            store,
                            "transfer-" + Long.toHexString(SecureSeed.next()),
                            SecureSeed.source(),
                            SystemClock.INSTANCE,
                            ThreadScheduling.INSTANCE::park)
                    .transfer(shard, numberOf(store));
            spec.commandLine()
                    .getOut()
                    .println("transfer: shard=" + shard + " primary="
                            + next.shard(shard).primary() + " term=" + next.term());
            return CommandLine.ExitCode.OK;
        } catch (ClusterException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return EXIT_REFUSED;
        } catch (ConfigurationStoreException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
    }

    private int numberOf(ZooKeeperConfigurationStore store) {
        final String name = to;
        if (name == null) {
            return -1;
        }
        final ClusterView view = ClusterView.read(store, SecureSeed.source());
        final int number = view == null ? -1 : view.numberOf(name);
        if (number < 0) {
            throw new ClusterException("there is no server '" + name + "' in cluster '" + options.cluster() + "'");
        }
        return number;
    }
}
