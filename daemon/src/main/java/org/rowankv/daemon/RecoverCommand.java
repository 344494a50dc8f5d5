package org.rowankv.daemon;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.admin.AdminRequest;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.server.membership.ClusterView.MemberView;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.LostServers;
import org.rowankv.topology.FormerReplica;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code rowan recover}: lets a cluster go on without servers that are lost for good. */
@Command(
        name = "recover",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Lets a cluster go on without servers that never return, when these have the only complete replicas of some"
                    + " shards. First says what is lost: those shards go on with the newest that another server has of them,"
                    + " or begin empty. Nothing is changed without --yes.",
            "Be certain that the named servers do not run, on the other side of a broken network either: what they"
                    + " acknowledge is lost. If one returns later, its data are void, and it receives copies.",
            "The servers that run restart together. Exit codes: 0; 1 if it is refused or not confirmed; 2 if the"
                    + " configuration store does not answer, or for a usage error."
        })
public final class RecoverCommand implements Callable<Integer> {
    private static final int EXIT_REFUSED = 1;
    private static final int CONNECT_MS = 2000;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ClusterOptions options;

    @Option(
            names = "--without",
            required = true,
            split = ",",
            paramLabel = "NAME,…",
            description = "the servers that are lost")
    private List<String> without = List.of();

    @Option(names = "--yes", description = "do it; without, only say what is lost")
    private boolean yes;

    public static void main(String[] arguments) {
        System.exit(Commands.execute(new RecoverCommand(), arguments));
    }

    @Override
    public Integer call() {
        final PrintWriter out = spec.commandLine().getOut();
        try (ZooKeeperConfigurationStore store = options.connect()) {
            final ClusterView view = ClusterView.read(store, SecureSeed.source());
            if (view == null) {
                throw new ClusterException("there is no cluster '" + options.cluster() + "' there");
            }
            final LostServers lost =
                    new LostServers(store, "recover-" + Long.toHexString(SecureSeed.next()), SecureSeed.source());
            final LostServers.Plan plan = lost.plan(without, live(view));
            say(plan, out);
            out.flush();
            if (!yes) {
                out.println("recover: nothing is changed; repeat it with --yes to go on without "
                        + String.join(", ", without));
                return EXIT_REFUSED;
            }
            if (!lost.store(plan)) {
                throw new ClusterException("the configuration has changed meanwhile, and nothing was done: look at"
                        + " \"rowan status\", and repeat the command if it is still needed");
            }
            out.println("recover: term=" + plan.next().term() + " lost-shards="
                    + plan.losses().size() + " empty="
                    + plan.losses().stream().filter(loss -> loss.left() == null).count());
            return CommandLine.ExitCode.OK;
        } catch (ClusterException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return EXIT_REFUSED;
        } catch (ConfigurationStoreException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
    }

    private void say(LostServers.Plan plan, PrintWriter out) {
        out.println("Without " + String.join(", ", without) + " these shards have no complete replica: what was"
                + " acknowledged in them is lost, but for what is named here.");
        for (LostServers.Loss loss : plan.losses()) {
            final FormerReplica left = loss.left();
            out.println("  shard " + loss.shard() + ": complete on " + String.join(", ", loss.complete()) + " only; "
                    + (left == null
                            ? "nothing is left: begins empty on " + loss.server()
                            : loss.server() + " has " + left.entries() + " entries, the newest of epoch "
                                    + Version.epoch(left.newest()) + ", number " + Version.counter(left.newest())
                                    + ": goes on with these"));
        }
        final int shards = plan.next().shardCount();
        out.println("The other " + (shards - plan.losses().size()) + " of " + shards + " shards lose nothing.");
        if (!plan.waitsFor().isEmpty()) {
            out.println("The cluster still waits for " + String.join(", ", plan.waitsFor())
                    + ", which do not run and have the only complete replicas of other shards: start them.");
        }
    }

    /** The servers that run, with what they say that they have. */
    private List<LostServers.LiveServer> live(ClusterView view) {
        final List<LostServers.LiveServer> live = new ArrayList<>();
        for (MemberView member : view.members()) {
            final LostServers.LiveServer answered = ask(member);
            if (answered != null) {
                live.add(answered);
            } else if (accepts(member.address()) || accepts(member.clients())) {
                spec.commandLine()
                        .getErr()
                        .println("server '" + member.name() + "' runs, but its admin port ("
                                + (member.admin().isEmpty() ? "none" : member.admin())
                                + ") does not answer from here: what it has of other replicas is not known");
                live.add(new LostServers.LiveServer(member.name(), true, List.of()));
            }
        }
        return live;
    }

    /** What the server says at its admin port; null if it does not answer there. */
    private static LostServers.@Nullable LiveServer ask(MemberView member) {
        if (member.admin().isEmpty()) {
            return null;
        }
        try {
            final HostAndPort admin = HostAndPort.parse(member.admin());
            final String answer = AdminRequest.ask(admin.host(), admin.port(), "replicas");
            if (answer.equals(ServerProcess.READING)) {
                throw new ClusterException("server '" + member.name()
                        + "' still reads its data: repeat the command when \"rowan status\" shows that it waits");
            }
            final boolean hasArea = !answer.equals(ServerProcess.NO_AREA);
            return new LostServers.LiveServer(
                    member.name(), hasArea, hasArea ? FormerReplica.parse(answer) : List.of());
        } catch (IOException e) {
            return null;
        } catch (IllegalArgumentException e) {
            throw new ClusterException(String.valueOf(e.getMessage()));
        }
    }

    private static boolean accepts(String address) {
        if (address.isEmpty()) {
            return false;
        }
        final HostAndPort parsed = HostAndPort.parse(address);
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(parsed.host(), parsed.port()), CONNECT_MS);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
