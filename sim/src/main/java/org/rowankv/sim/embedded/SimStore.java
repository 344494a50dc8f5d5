package org.rowankv.sim.embedded;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.FabricException;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.Machine;
import org.rowankv.server.configstore.ConfigurationCodec;
import org.rowankv.server.configstore.VersionedNode;
import org.rowankv.server.durability.ForceFailedException;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedContext;
import org.rowankv.server.embedded.Transfer;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.sim.CrashError;
import org.rowankv.sim.EventCounters;
import org.rowankv.sim.NodeClock;
import org.rowankv.sim.SimPlan;
import org.rowankv.sim.device.DiskFullException;
import org.rowankv.sim.device.PowerFailure;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/** The simulated store: its incarnations, in sequence, over the memories that survive them. */
final class SimStore {
    /** Slow enough that other tasks do much while a copy is made. */
    private static final long COPY_BYTES_PER_SECOND = 200_000;

    private final EmbeddedSimulation simulation;
    private final SimPlan plan;
    private final SimMemories memories;
    private final RandomSource random;
    private final SimLinks links;
    private final RandomSource power;
    private final List<NodeClock> clocks = new ArrayList<>();
    private final Set<Integer> toEmpty = new LinkedHashSet<>();
    /** By server, the failing write of the next start. */
    private final Map<Integer, Integer> toFail = new TreeMap<>();

    private final List<Transfer> transfers = new ArrayList<>();
    private List<Integer> primaries = List.of();
    /** Since the store was opened; its next start returns them. */
    private boolean moved;

    private SimScheduling scheduling;
    private @Nullable EmbeddedCluster cluster;
    private @Nullable SimFabric fabric;
    private int incarnation;
    private boolean up;
    private boolean starting;
    private boolean closing;
    private boolean crashed;

    SimStore(EmbeddedSimulation simulation, SimMemories memories, RandomSource random, RandomSource nodes) {
        this.simulation = simulation;
        this.plan = simulation.plan();
        this.memories = memories;
        this.random = random;
        this.power = random.fork("power cuts");
        this.scheduling = new SimScheduling(simulation);
        this.links = new SimLinks(simulation.timeline(), plan.servers());
        for (int node = 0; node <= plan.servers(); node++) {
            clocks.add(new NodeClock(
                    simulation.timeline(),
                    nodes.nextInt(401) - 200,
                    nodes.nextLong() >>> 8,
                    nodes.nextInt(2000) - 1000));
        }
    }

    /** Opens a store in these memories, new or existing. Its checker decides when faults may occur again. */
    void open() {
        simulation.stops().over();
        emptyServers();
        simulation.victim().beforeStart(incarnation);
        toFail.forEach((server, write) ->
                memories.of(server).device().failIn(write, true, power.fork("failing start " + incarnation)));
        toFail.clear();
        scheduling = new SimScheduling(simulation);
        fabric = null;
        starting = incarnation > 0;
        final EmbeddedCluster opened = EmbeddedCluster.open(
                simulation.storePlan().settings(),
                new EmbeddedContext(
                        clocks::get,
                        random.fork("store " + incarnation++),
                        scheduling,
                        local -> {
                            final SimFabric own = new SimFabric(local, simulation);
                            fabric = own;
                            return own;
                        },
                        memories,
                        Machine.PRESENT,
                        this::tuned,
                        1,
                        !simulation.storePlan().clientsSurvive()));
        starting = false;
        memories.spare();
        requireHigherTerm(opened);
        notePrimaries(opened);
        cluster = opened;
        simulation
                .eventCounters()
                .add("starts from a checkpoint", opened.checkpoints().loaded());
        memories.written();
        simulation.workload().caches().open(opened.session().catalogue());
        up = true;
        simulation.trace().mix(simulation.timeline().nowNs());
        simulation
                .trace()
                .tell("the store is open in term " + opened.configuration().term());
    }

    private void notePrimaries(EmbeddedCluster opened) {
        final List<Integer> now = opened.configuration().shards().stream()
                .map(ShardAssignment::primary)
                .toList();
        if (moved || !primaries.isEmpty() && !primaries.equals(now)) {
            primaryMoved();
        }
        moved = false;
        primaries = now;
    }

    /** Another primary uses another clock for lifetimes: they end sooner or later by the difference. */
    void primaryMoved() {
        moved = true;
        simulation.eventCounters().count("primaries moved");
        final List<Long> walls = clocks.subList(0, plan.servers()).stream()
                .map(NodeClock::wallMs)
                .toList();
        final long apartMs = Collections.max(walls) - Collections.min(walls) + 1;
        final long nowNs = simulation.timeline().nowNs();
        simulation.workload().lifetimes().jumped(nowNs, apartMs);
        simulation.workload().lifetimes().jumped(nowNs, -apartMs);
    }

    /** Moves the primary of a shard to one of its backups, if none of them is joining. */
    void transfer(int shard, int drawn) {
        final ShardAssignment assignment = cluster().configuration().shard(shard);
        final int[] backups = assignment.backups();
        if (up && backups.length > 0 && assignment.joining().isEmpty()) {
            final int to = backups[drawn % backups.length];
            simulation.eventCounters().count("transfers");
            simulation.trace().tell("shard " + shard + " is to move to server " + to);
            transfers.add(cluster().transfer(shard, to));
        }
    }

    void transferAllOf(int server) {
        cluster().configuration().primariesOf(server).forEach(shard -> transfer(shard, shard));
    }

    /** Waits until no primary is moving. */
    void awaitTransferred() {
        for (int i = 0; !transfers.stream().allMatch(Transfer::isOver); i++) {
            simulation.stops().requireServing();
            simulation.scheduler().park(1_000_000);
            if (i > 100_000) {
                simulation.violation("a primary does not move: " + openings());
            }
        }
        transfers.clear();
    }

    /** What each server opens, for messages. */
    List<String> openings() {
        return cluster().servers().stream()
                .map(server -> server.roleChanges().openings().toString())
                .toList();
    }

    void emptyAtNextStart(int server) {
        toEmpty.add(server);
    }

    /** The server is not trustworthy: it takes precedence over servers that may keep their content. */
    void replaceAtNextStart(int server) {
        final List<Integer> others = List.copyOf(toEmpty);
        toEmpty.clear();
        toEmpty.add(server);
        toEmpty.addAll(others);
    }

    /** After this many writes of a server's device, its next start meets a failing device. */
    void failAtNextStart(int server, int writes) {
        toFail.put(server, writes);
    }

    /** Empties them one by one, as long as the rest suffices. */
    private void emptyServers() {
        final VersionedNode stored = memories.store().read(ConfigurationCodec.PATH);
        if (stored == null) {
            return;
        }
        if (simulation.victim().hasLost()) {
            toEmpty.clear(); // its copy might come from a lying device: then two servers would have lost the same data
            return;
        }
        final Configuration found = ConfigurationCodec.decode(stored.bytes());
        final Set<Integer> emptied = new TreeSet<>();
        for (int server : toEmpty) {
            emptied.add(server);
            emptied.addAll(simulation.victim().doubtful());
            if (found.shardsLostWithout(emptied).isEmpty()) {
                memories.empty(server);
                simulation.eventCounters().count("servers emptied");
                simulation.trace().tell("server " + server + " has lost its data");
            } else {
                emptied.remove(server);
            }
        }
        toEmpty.clear();
    }

    /** Whether a power cut would keep these bytes of a server's area. */
    boolean isForced(int server, long address, int length) {
        return memories.isForced(server, address, length);
    }

    /** Waits until every replica is complete. */
    void awaitJoined() {
        for (int server = 0; server < plan.servers(); server++) {
            for (int i = 0; cluster().configuration().isJoining(server); i++) {
                simulation.stops().requireServing();
                simulation.scheduler().park(1_000_000);
                if (i > 100_000) {
                    simulation.violation("server " + server + " does not get its copy: "
                            + cluster().statistics());
                }
            }
        }
    }

    private void tuned(ServerSettings.Builder settings) {
        if (simulation.storePlan().hostile()) {
            hostile(settings);
        }
        settings.sessionLeaseNs = simulation.storePlan().leaseNs();
        if (plan.seed() % 3 != 0) {
            settings.copyBytesPerSecond = COPY_BYTES_PER_SECOND;
        }
    }

    /**
     * Fewest posted segments (with one, commit records would leave none to others), late cleaning, holes fenced soon,
     * and counters that overflow.
     */
    private void hostile(ServerSettings.Builder settings) {
        settings.postedAhead = Math.min(settings.postedAhead, 2);
        settings.cleanLowWater = settings.cleanerReserve + 1;
        settings.cleanHighWater = settings.cleanerReserve + 2;
        settings.holeTimeoutNs = 2_000_000;
        settings.verifyReads = true;
        settings.counters = simulation.storePlan().counters();
    }

    /** Random source of one agent's force durations. */
    RandomSource deviceRandom(int agent) {
        return power.fork("device " + incarnation + " " + agent);
    }

    /** Stops the delivery of requests. */
    void cutClientsOff() {
        up = false;
    }

    /** Closes it cleanly. A crash may intervene. */
    void close() {
        simulation.trace().tell("the store is closed");
        up = false;
        closing = true;
        try {
            cluster().close();
        } catch (PowerFailure e) {
            simulation.eventCounters().count("power cuts in the middle of the last writes of a close");
            crash("in the middle of the last writes of a close", true);
        } finally {
            closing = false;
        }
        ended();
        memories.closed();
        simulation.victim().processEnded(false);
    }

    /** Closes it after it has stopped itself. Only a close is left, which must terminate. */
    void closeStopped() {
        simulation.eventCounters().count("stores that stopped themselves");
        simulation.trace().tell("the store has stopped itself, and is closed");
        up = false;
        cluster().close();
        ended();
        end(simulation.stops().endsMachine());
    }

    /** A start was refused, or its result has stopped itself at once: the process ends. */
    void failedStart() {
        starting = false;
        up = false;
        end(simulation.stops().endsMachine());
        crashed = false;
    }

    /** Ends the process here: the caller unwinds by the error that this throws, and so do all tasks below it. */
    void crash(String where) {
        crash(where, plan.power() && power.nextInt(4) > 0);
    }

    private void crash(String where, boolean isPowerCut) {
        simulation.trace().tell("CRASH " + where);
        up = false;
        simulation.eventCounters().count("crash " + where);
        if (starting) {
            // Its partial start was never visible.
            simulation.eventCounters().count("crashes during a start");
            starting = false;
        } else {
            ended();
        }
        end(isPowerCut);
        throw new CrashError();
    }

    private void end(boolean isPowerCut) {
        if (isPowerCut) {
            final int dropped = memories.cutPower(power, simulation.eventCounters()::count);
            simulation.trace().tell("a power cut drops " + dropped + " words");
            simulation.trace().mix(dropped);
            simulation.eventCounters().count("power cuts");
            simulation.eventCounters().add("words that power cuts dropped", dropped);
        } else {
            memories.crash();
        }
        simulation.victim().processEnded(isPowerCut);
        crashed = true;
    }

    /** Whether the process has ended, and the end was not handled yet. */
    boolean isCrashed() {
        return crashed;
    }

    /** Whether it has ended; from now on the end counts as handled. */
    boolean takeCrash() {
        final boolean was = crashed;
        crashed = false;
        return was;
    }

    /** The current incarnation has ended. */
    private void ended() {
        final EventCounters eventCounters = simulation.eventCounters();
        for (ServerStatistics server : cluster().statistics()) {
            eventCounters.add("segments cleaned", server.cleanedSegments());
            eventCounters.add("tombstones dropped", server.tombstonesDropped());
            eventCounters.add("evictions", server.evictedObjects());
            eventCounters.add("connections made anew", server.reconnects());
            eventCounters.add("rounds of the scrubber", server.scrubRounds());
            eventCounters.add("damaged entries found", server.badEntries());
        }
        eventCounters.add("checkpoints", cluster().checkpoints().taken());
        eventCounters.add("joins completed", cluster().joinsCompleted());
        // Connections end with the process, and so do messages in flight.
        simulation.scheduler().dropDeliveries();
        transfers.clear();
        requireNoErrors();
    }

    private void requireNoErrors() {
        for (ErrorLog.Observation error : cluster().errors().distinct()) {
            if (!error.type().equals(CrashError.class.getName()) && !isOfACutLink(error) && !isOfADevice(error)) {
                simulation.violation("the store reported: " + error);
            }
        }
    }

    private boolean isOfACutLink(ErrorLog.Observation error) {
        return links.wereEverCut() && error.type().equals(FabricException.class.getName());
    }

    private boolean isOfADevice(ErrorLog.Observation error) {
        return error.type().equals(DiskFullException.class.getName())
                || isFailed() && (error.type().equals(ForceFailedException.class.getName()) || isOfAFailedForce(error))
                || simulation.victim().explains(error);
    }

    private static boolean isOfAFailedForce(ErrorLog.Observation error) {
        return error.message().contains("are not on the device")
                || error.message().contains("could not be forced");
    }

    private boolean isFailed() {
        return memories.haveFailed();
    }

    private void requireHigherTerm(EmbeddedCluster opened) {
        if (cluster != null
                && opened.configuration().term() <= cluster.configuration().term()) {
            simulation.violation("term " + opened.configuration().term() + " follows term "
                    + cluster.configuration().term());
        }
    }

    /** Whether it is starting, from the state of an earlier incarnation. */
    boolean isStarting() {
        return starting;
    }

    boolean isClosing() {
        return closing;
    }

    /** Whether it is reachable. */
    boolean isUp() {
        return up;
    }

    EmbeddedCluster cluster() {
        if (cluster == null) {
            throw new IllegalStateException("no store is open");
        }
        return cluster;
    }

    @Nullable
    SimFabric fabric() {
        return fabric;
    }

    SimScheduling scheduling() {
        return scheduling;
    }

    Server serverOf(int shard) {
        return cluster().servers().get(cluster().configuration().shard(shard).primary());
    }

    SimLinks links() {
        return links;
    }

    NodeClock clock(int node) {
        return clocks.get(node);
    }

    Clock clientClock() {
        return clocks.get(plan.servers());
    }
}
