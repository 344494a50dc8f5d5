package org.rowankv.check.chaos;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.disturb.ClusterProcesses;
import org.rowankv.check.disturb.ClusterWatch;
import org.rowankv.check.disturb.CutNetwork;
import org.rowankv.check.disturb.NetworkNode;
import org.rowankv.check.disturb.SmallDisks;
import org.rowankv.check.disturb.StoppedProcess;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.ServerCommand;
import org.rowankv.runtime.SystemClock;
import org.rowankv.topology.Configuration;

/** Injects one fault at a time into a cluster, and heals it: at the end of {@link #perform} all processes run. */
final class FaultHand {
    private static final int CONTROL_TIMEOUT_SECONDS = 60;
    /** About how long a start takes, for one that may fail. */
    private static final long START_NS = TimeUnit.SECONDS.toNanos(3);

    private final TemporaryCluster cluster;
    private final ClusterProcesses processes;
    private final ClusterWatch watch;
    private final CutNetwork network;
    private final @Nullable SmallDisks disks;
    /** Waits between the two halves of a fault of two servers; returns what the cluster still lacks. */
    private final Wait whole;

    /** A wait until the cluster is whole. */
    @FunctionalInterface
    interface Wait {
        String await() throws IOException;
    }

    /**
     * A fault as it happened.
     *
     * @param hit the servers that were hit
     */
    record Done(String text, Set<Integer> hit) {}

    FaultHand(ChaosCluster chaos, Wait whole) {
        this.cluster = chaos.cluster();
        this.processes = chaos.processes();
        this.watch = chaos.watch();
        this.network = chaos.network();
        this.disks = chaos.disks();
        this.whole = whole;
    }

    private static String seconds(long lengthNs) {
        return String.format(Locale.ROOT, "%.1f s", lengthNs / 1e9);
    }

    Done perform(ChaosRound round) throws IOException {
        final Configuration before = watch.configuration();
        final int server = serverOf(round, before);
        final String name = name(server, before);
        final String lasting = seconds(round.lengthNs());
        return switch (round.kind()) {
            case CONTROL -> {
                startAJvm();
                yield new Done("a JVM started", Set.of());
            }
            case TRANSFER -> {
                final int count = watch.transferPrimaries(server, 1);
                yield new Done(count + " primaries of " + name + " transferred", Set.of(server));
            }
            case RESTART -> {
                processes.terminate(server);
                pause(round.lengthNs());
                processes.start(server);
                yield new Done(name + " stopped by SIGTERM, started after " + lasting, Set.of(server));
            }
            case ROLLING_RESTART -> restartAll();
            case KILL, KILL_MANAGER -> {
                killAndStart(server, round.lengthNs());
                yield new Done(name + " killed, started after " + lasting, Set.of(server));
            }
            case KILL_TWO_IN_TURN -> killTwo(server, round);
            case PAUSE, PAUSE_MANAGER -> {
                try (StoppedProcess stopped = processes.stop(server)) {
                    assert stopped != null;
                    pause(round.lengthNs());
                }
                yield new Done(name + " stopped for " + lasting, Set.of(server));
            }
            case PARTITION, PARTITION_ONE_WAY, PARTITION_ZOOKEEPER -> {
                final String from = cut(round, server);
                pause(round.lengthNs());
                network.heal();
                yield new Done(
                        name + from + " for " + lasting,
                        round.kind() == ChaosFault.PARTITION_ZOOKEEPER ? Set.of() : Set.of(server));
            }
            case FULL_DISK -> fillDisk(server, name, round);
            case ZOOKEEPER -> {
                processes.killZooKeeper();
                pause(round.lengthNs());
                processes.startZooKeeper();
                yield new Done("ZooKeeper killed, started after " + lasting, Set.of());
            }
            case POWER -> killAndStart(ChaosPlan.order(servers(), round.order()), round.lengthNs());
            case ALL_REPLICAS -> killAndStart(List.of(server, partner(round, server, before)), round.lengthNs());
            case ZOOKEEPER_AND_SERVER -> {
                processes.killZooKeeper();
                processes.kill(server);
                pause(round.lengthNs());
                if ((round.order() & 1) == 0) {
                    processes.startZooKeeper();
                    pause(round.lengthNs());
                }
                processes.start(server);
                processes.startZooKeeper();
                yield new Done("ZooKeeper and " + name + " killed, started after " + lasting, Set.of(server));
            }
        };
    }

    private int servers() {
        return cluster.cluster().shape().servers();
    }

    /** The drawn server, or one of the kind that the fault hits: preferably a primary, for there outages are measured. */
    private int serverOf(ChaosRound round, Configuration before) {
        final int manager = before.manager();
        if (round.kind() == ChaosFault.KILL_MANAGER || round.kind() == ChaosFault.PAUSE_MANAGER) {
            return Math.max(0, manager);
        }
        final boolean spares = round.kind() == ChaosFault.KILL || round.kind() == ChaosFault.PAUSE;
        int chosen = -1;
        for (int i = 0; i < servers(); i++) {
            final int server = (round.server() + i) % servers();
            if (spares && server == manager) {
                continue;
            }
            if (!before.primariesOf(server).isEmpty()) {
                return server;
            }
            chosen = chosen < 0 ? server : chosen;
        }
        return chosen;
    }

    private static int other(ChaosRound round, int server) {
        return round.other() == server ? round.server() : round.other();
    }

    /** A backup of a shard whose primary is the server, so that no complete replica is left; of the first shard from a drawn one. */
    private static int partner(ChaosRound round, int server, Configuration before) {
        final List<Integer> primaries = before.primariesOf(server);
        for (int i = 0; i < primaries.size(); i++) {
            final int[] backups = before.shard(primaries.get((round.other() + i) % primaries.size()))
                    .backups();
            if (backups.length > 0) {
                return backups[0];
            }
        }
        return other(round, server);
    }

    private Done restartAll() throws IOException {
        for (int server = 0; server < servers(); server++) {
            processes.terminate(server);
            processes.start(server);
            final String lack = whole.await();
            if (!lack.isEmpty()) {
                return new Done(ClusterProcesses.name(server) + " restarted; not whole again", Set.of(server));
            }
        }
        return new Done("all servers restarted, one after the other", Set.copyOf(ChaosPlan.order(servers(), 0)));
    }

    private Done killTwo(int server, ChaosRound round) throws IOException {
        killAndStart(server, round.lengthNs());
        final String lack = whole.await();
        final int other = other(round, server);
        if (!lack.isEmpty()) {
            return new Done(
                    ClusterProcesses.name(server) + " killed; not whole again, so no other was", Set.of(server));
        }
        killAndStart(other, round.lengthNs());
        return new Done(
                ClusterProcesses.name(server) + " killed, then " + ClusterProcesses.name(other), Set.of(server, other));
    }

    private Done killAndStart(List<Integer> all, long awayNs) throws IOException {
        processes.killAtOnce(all);
        for (int each : all) {
            pause(awayNs / all.size());
            processes.start(each);
        }
        return new Done(
                all.stream().map(ClusterProcesses::name).collect(Collectors.joining(" "))
                        + " killed at once, started in this order",
                new HashSet<>(all));
    }

    private Done fillDisk(int server, String name, ChaosRound round) throws IOException {
        final boolean kills = (round.order() & 1) == 0;
        if (disks == null) {
            throw new IOException("there are no small disks");
        }
        disks.fill(server);
        pause(round.lengthNs());
        if (kills) {
            if (cluster.cluster().serverProcess(server).isPresent()) {
                processes.kill(server);
            }
            processes.start(server);
            pause(START_NS);
        }
        disks.free(server);
        final boolean ended = cluster.cluster().serverProcess(server).isEmpty();
        processes.start(server);
        return new Done(
                name + " on a full tmpfs for " + seconds(round.lengthNs()) + (kills ? ", then killed and started" : "")
                        + (ended ? "; it ended by itself" : ""),
                Set.of(server));
    }

    /** Cuts links of a server; says which. */
    private String cut(ChaosRound round, int server) {
        final NetworkNode own = NetworkNode.server(server);
        final boolean first = (round.order() & 1) == 0;
        if (round.kind() == ChaosFault.PARTITION_ZOOKEEPER) {
            cutBoth(own, NetworkNode.ZOOKEEPER);
            return " cut off from ZooKeeper";
        }
        final boolean both = round.kind() == ChaosFault.PARTITION;
        for (int each = 0; each < servers(); each++) {
            if (each != server) {
                final NetworkNode other = NetworkNode.server(each);
                if (both || first) {
                    network.cut(own, other);
                }
                if (both || !first) {
                    network.cut(other, own);
                }
            }
        }
        if (!both) {
            return first ? " cannot send to servers" : " hears no servers";
        }
        cutBoth(own, NetworkNode.ZOOKEEPER);
        if (first) {
            cutBoth(own, NetworkNode.CLIENT);
            cutBoth(own, NetworkNode.READER);
            return " cut off from all";
        }
        if ((round.order() & 2) == 0) {
            return " cut off from servers and ZooKeeper";
        }
        for (int each = 0; each < servers(); each++) {
            if (each != server) {
                cutBoth(NetworkNode.server(each), NetworkNode.READER);
            }
        }
        return " and the readers cut off from the other servers and ZooKeeper";
    }

    private void cutBoth(NetworkNode one, NetworkNode other) {
        network.cut(one, other);
        network.cut(other, one);
    }

    private static String name(int server, Configuration configuration) {
        return ClusterProcesses.name(server) + (configuration.manager() == server ? " (manager)" : "");
    }

    private void killAndStart(int server, long awayNs) throws IOException {
        processes.kill(server);
        pause(awayNs);
        processes.start(server);
    }

    private void startAJvm() throws IOException {
        final Process process = new ProcessBuilder(
                        cluster.launch().java().toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ServerCommand.class.getName(),
                        "--help")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            if (!process.waitFor(CONTROL_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }

    private void pause(long lengthNs) {
        final long untilNs = SystemClock.INSTANCE.nanoTime() + lengthNs;
        for (long leftNs = lengthNs; leftNs > 0; leftNs = untilNs - SystemClock.INSTANCE.nanoTime()) {
            LockSupport.parkNanos(this, leftNs);
        }
    }
}
