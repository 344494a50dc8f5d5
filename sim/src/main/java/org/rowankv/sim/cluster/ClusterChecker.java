package org.rowankv.sim.cluster;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.ReplicaRead;
import org.rowankv.sim.StateChecker;
import org.rowankv.sim.workload.WindowChecker;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardAssignment;
import org.rowankv.topology.ShardMap;

/** Checker of a cluster during a pause: the value and the history of every key, and the servers' internal state. */
final class ClusterChecker {
    private static final int TURNS_TO_SETTLE = 400;

    private final ClusterSimulation simulation;
    private final WindowChecker window;
    private final StateChecker states;
    /** Evictions of each server at the last check. */
    private final Map<Server, Long> evicted = new HashMap<>();
    /** Entries that each server had taken from another one, likewise. */
    private final Map<Server, Long> mended = new HashMap<>();

    ClusterChecker(ClusterSimulation simulation) {
        this.simulation = simulation;
        this.window = simulation.workload().windowChecker();
        this.states = new StateChecker(simulation::violation);
    }

    /**
     * Reads every key and checks its history since the last pause; then compares the replicas. Precondition: all
     * servers serve.
     */
    void checkWindow() {
        final Configuration configuration = simulation.served();
        final KeyHash keyHash = new KeyHash(configuration.hashSeed());
        final List<SimProcess.Door> doors = doors();
        final List<Server> servers = servers(doors);
        awaitDigested(servers);
        awaitLimits(configuration, servers);
        window.check(
                request -> {
                    final long hashed =
                            keyHash.hash(request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
                    final int shard = ShardMap.shardOf(hashed, configuration.shardCount());
                    request.placed(hashed, shard);
                    final int primary = configuration.shard(shard).primary();
                    if (!doors.get(primary).caches().knows(request.cacheId())) {
                        request.noResult();
                        request.answer(Status.UNKNOWN_CACHE, 0, 0, 0);
                    } else {
                        read(servers.get(primary), request);
                        if (request.status() == Status.CORRUPTED) {
                            lookElsewhere(request, configuration.shard(shard), servers);
                        }
                    }
                },
                simulation.services()::read);
        simulation.services().afterReads();
        awaitDigested(servers);
        awaitWholeWrites();
        states.requireAgreement(
                configuration, servers, simulation.deviceFaults().damaged());
        states.requireCounts(whole(servers), configuration.shardCount());
        states.requireEvictions(servers, simulation.workload().caches().lives());
        states.requireSegments(servers);
        for (Server server : servers) {
            final long evictions = server.statistics().evictedObjects();
            final Long before = evicted.put(server, evictions);
            simulation.eventCounters().add("evictions", evictions - (before == null ? 0 : before));
            final long replaced = server.statistics().replacedEntries();
            final Long earlier = mended.put(server, replaced);
            simulation.eventCounters().add("damaged entries mended", replaced - (earlier == null ? 0 : earlier));
        }
        simulation.hosts().forEach(host -> {
            final SimProcess process = host.process();
            if (process != null) {
                process.checkErrors();
            }
        });
    }

    /** Waits until the server has a lease, and has opened the shard. */
    private void read(Server primary, Request request) {
        primary.requests().call(request);
        for (int i = 0; i < TURNS_TO_SETTLE && request.status() == Status.NOT_PRIMARY; i++) {
            simulation.scheduler().park(5_000_000);
            request.clearAnswer();
            primary.requests().call(request);
        }
    }

    /** The servers without damage: what could not be mended stays. */
    private List<Server> whole(List<Server> servers) {
        final List<Server> whole = new ArrayList<>(servers);
        whole.removeIf(server -> simulation.deviceFaults().damaged().contains(server.serverId()));
        return whole;
    }

    /**
     * An unreadable object is unavailable, and not lost: an intact replica has the object, or has none, as where the
     * entry of a deletion is damaged. The history of the key shows whether that is correct.
     */
    private void lookElsewhere(Request request, ShardAssignment assignment, List<Server> servers) {
        simulation.deviceFaults().requireRotten("a read during a pause finds a damaged object");
        final SimHost primary = simulation.hosts().get(assignment.primary());
        for (Server server : servers) {
            if (assignment.isReplica(server.serverId())
                    && !assignment.isJoining(server.serverId())
                    && !simulation.deviceFaults().damaged().contains(server.serverId())) {
                if (!ReplicaRead.answer(request, server, primary.clock().wallMs())) {
                    request.clearAnswer();
                    request.answer(Status.NOT_FOUND, 0, 0, 0);
                }
                simulation.eventCounters().count("objects that stay unavailable, and that another replica has");
                return;
            }
        }
        simulation.deviceFaults().requireNoLoss(false, "an object cannot be read, and there is no other whole replica");
    }

    /** Waits until evictions reach the limits. Precondition: no writer runs. */
    private void awaitLimits(Configuration configuration, List<Server> servers) {
        String above = "";
        for (int i = 0; i < TURNS_TO_SETTLE; i++) {
            above = states.aboveLimits(
                    configuration, servers, simulation.workload().caches().lives());
            if (above.isEmpty()) {
                return;
            }
            servers.forEach(Server::wakeUp);
            simulation.scheduler().park(1_000_000);
        }
        simulation.violation("limits are not kept: " + above);
    }

    private static List<Server> servers(List<SimProcess.Door> doors) {
        return doors.stream().map(SimProcess.Door::server).toList();
    }

    private List<SimProcess.Door> doors() {
        final List<SimProcess.Door> doors = new ArrayList<>();
        for (SimHost host : simulation.hosts()) {
            final SimProcess process = host.process();
            final SimProcess.Door door = process == null ? null : process.door();
            if (door == null) {
                throw new AssertionError("not all serve");
            }
            doors.add(door);
        }
        return doors;
    }

    /**
     * Includes the ends of objects that servers evict meanwhile: each ends on one replica before it ends on another.
     */
    private void awaitDigested(List<Server> servers) {
        long ended;
        do {
            ended = endedObjects(servers);
            awaitRound(servers);
        } while (endedObjects(servers) != ended || servers.stream().anyMatch(Server::isEndingObjects));
    }

    private static long endedObjects(List<Server> servers) {
        return servers.stream().mapToLong(Server::endedObjects).sum();
    }

    /** A log may end with the first part of a record that is being written: servers send some also when all is calm. */
    private void awaitWholeWrites() {
        while (simulation.wire().verbs().isWithinAWrite()) {
            simulation.scheduler().park(20_000);
        }
    }

    private void awaitRound(List<Server> servers) {
        for (Server server : servers) {
            // Two more: the first may have begun before the checked entries had landed.
            final long enough = server.digestCycles() + 2;
            while (server.digestCycles() < enough) {
                server.wakeUp();
                simulation.scheduler().park(20_000);
            }
        }
    }

    /** Closes every session; then the used space must equal the live data. */
    void checkSpace() {
        final Configuration configuration = simulation.served();
        final List<Server> servers = servers(doors());
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final Server primary = servers.get(configuration.shard(shard).primary());
            for (long sessionId : primary.replicas().get(shard).sessions().openIds()) {
                final Request request = new Request().closeSession(shard, sessionId);
                primary.requests().call(request);
                if (request.status() != Status.OK) {
                    simulation.violation("closing a session during a pause was answered " + request.status());
                }
            }
        }
        String difference = "";
        for (int i = 0; i < TURNS_TO_SETTLE; i++) {
            servers.forEach(server -> server.spaceRequests().releaseGrants());
            awaitDigested(servers);
            awaitWholeWrites();
            difference = states.spaceDifference(whole(servers));
            if (difference.isEmpty()) {
                return;
            }
            simulation.scheduler().park(5_000_000);
        }
        simulation.violation("space is not accounted for: " + difference);
    }
}
