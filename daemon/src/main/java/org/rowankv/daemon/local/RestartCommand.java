package org.rowankv.daemon.local;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.Launch;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.membership.ClusterView;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan restart}: the servers of a cluster on this machine, one after the other. */
@Command(
        name = "restart",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Restarts the servers of a cluster on this machine, one after the other, while applications use it: each hands its"
                    + " roles over, ends, starts with the options with which it ran, and has complete replicas again before the next one.",
            "Elsewhere do the same by your supervisor: SIGTERM, start, and wait until \"rowan status\" exits with 0.",
            "The last line is \"restart: servers=N seconds=N\". Exit codes: 0; 1 if the cluster is not whole, or does not become"
                    + " whole again: the servers that are left keep running as they were; 2 for a usage error."
        })
public final class RestartCommand implements Callable<Integer> {
    private static final int EXIT_FAILED = 1;
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long SAY_NS = TimeUnit.SECONDS.toNanos(5);

    @Spec
    private CommandSpec spec;

    @Option(names = "--dir", required = true, description = "directory of the cluster")
    private Path dir;

    @Option(names = "--rolling", required = true, description = "one after the other; there is no other way")
    private boolean isRolling;

    @Option(
            names = "--server-java",
            paramLabel = "FILE",
            description = "java program for the started processes, of a JDK from 17 on (the one that runs each now)")
    private @Nullable Path serverJava;

    @Option(
            names = "--wait",
            defaultValue = "600",
            description = "seconds to wait at most for the replicas of each server (${DEFAULT-VALUE})")
    private int waitSeconds;

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new RestartCommand()).execute(arguments));
    }

    @Override
    public Integer call() {
        if (!isRolling) {
            throw new ParameterException(
                    spec.commandLine(), "to restart all servers at once use \"cluster stop\" and \"cluster start\"");
        }
        try {
            final Path java = serverJava == null ? null : Launch.requireProgram(serverJava, "--server-java");
            restart(LocalCluster.open(dir), java);
            return CommandLine.ExitCode.OK;
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        } catch (IOException | ConfigurationStoreException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return EXIT_FAILED;
        }
    }

    private void restart(LocalCluster cluster, @Nullable Path java) throws IOException {
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        final int servers = cluster.shape().servers();
        try (ConfigurationStore store = cluster.connect()) {
            final String lack = lack(cluster, store);
            if (!lack.isEmpty()) {
                throw new IOException("the cluster in " + dir + " is not whole: " + lack
                        + ". Wait until it is, or start what does not run: a restart would stop some shards");
            }
            for (int server = 0; server < servers; server++) {
                final String name = cluster.nameOf(server);
                final boolean byItself = cluster.restartServer(server, java);
                say(name + (byItself ? " stopped" : " did not stop by itself, and was killed"));
                awaitWhole(cluster, store, name);
                say(name + " serves, all replicas are complete");
            }
        }
        say("restart: servers=" + servers + " seconds="
                + TimeUnit.NANOSECONDS.toSeconds(SystemClock.INSTANCE.nanoTime() - fromNs));
    }

    private void awaitWhole(LocalCluster cluster, ConfigurationStore store, String name) throws IOException {
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        long saidNs = fromNs;
        String lack = lack(cluster, store);
        while (!lack.isEmpty()) {
            final long nowNs = SystemClock.INSTANCE.nanoTime();
            if (nowNs - fromNs >= TimeUnit.SECONDS.toNanos(waitSeconds)) {
                throw new IOException("the cluster is not whole " + waitSeconds + " s after " + name + " was started: "
                        + lack + "; no other server was stopped");
            }
            if (nowNs - saidNs >= SAY_NS) {
                saidNs = nowNs;
                say("waiting: " + lack);
            }
            LockSupport.parkNanos(this, LOOK_NS);
            lack = lack(cluster, store);
        }
    }

    private static String lack(LocalCluster cluster, ConfigurationStore store) {
        final ClusterView view = ClusterView.read(store, SecureSeed.source());
        return view == null ? "there is no cluster in its ZooKeeper" : ClusterLack.of(cluster, view);
    }

    private void say(String line) {
        spec.commandLine().getOut().println(line);
        spec.commandLine().getOut().flush();
    }
}
