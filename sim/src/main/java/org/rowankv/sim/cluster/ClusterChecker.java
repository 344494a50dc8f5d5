package org.rowankv.sim.cluster;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.SeedChecker;
import org.rowankv.sim.state.ReplicaRead;
import org.rowankv.topology.ShardAssignment;

/** Checker of a cluster during a pause. */
final class ClusterChecker extends SeedChecker {
    private final ClusterSimulation simulation;
    /** Evictions of each server at the last check. */
    private final Map<Server, Long> evicted = new HashMap<>();
    /** Entries that each server had taken from another one, likewise. */
    private final Map<Server, Long> mended = new HashMap<>();

    ClusterChecker(ClusterSimulation simulation) {
        super(simulation);
        this.simulation = simulation;
    }

    @Override
    protected List<Server> servers() {
        return simulation.hosts().stream().map(host -> door(host).server()).toList();
    }

    private static SimProcess.Door door(SimHost host) {
        final SimProcess process = host.process();
        final SimProcess.Door door = process == null ? null : process.door();
        if (door == null) {
            throw new AssertionError("not all serve");
        }
        return door;
    }

    @Override
    protected Set<Integer> damaged() {
        return simulation.deviceFaults().damaged();
    }

    @Override
    protected void begin(List<Server> servers) {
        awaitDigested(servers);
    }

    @Override
    protected void read(Request request, List<Server> servers) {
        final ShardAssignment assignment = simulation.served().shard(request.shard());
        final SimHost primary = simulation.hosts().get(assignment.primary());
        if (!door(primary).caches().knows(request.cacheId())) {
            request.noResult();
            request.answer(Status.UNKNOWN_CACHE, 0, 0, 0);
            return;
        }
        read(servers.get(assignment.primary()), request);
        if (request.status() == Status.CORRUPTED) {
            lookElsewhere(request, assignment, servers);
        }
    }

    @Override
    protected void settle(List<Server> servers) {
        awaitDigested(servers);
        awaitWholeWrites();
    }

    @Override
    protected void pause(List<Server> servers, long ns) {
        servers.forEach(Server::wakeUp);
        simulation.scheduler().park(ns);
    }

    @Override
    protected void close(Request request, List<Server> servers) {
        servers.get(simulation.served().shard(request.shard()).primary())
                .requests()
                .call(request);
    }

    @Override
    protected void end(List<Server> servers) {
        for (Server server : servers) {
            count("evictions", evicted, server, server.statistics().evictedObjects());
            count("damaged entries mended", mended, server, server.statistics().replacedEntries());
        }
        simulation.hosts().forEach(host -> {
            final SimProcess process = host.process();
            if (process != null) {
                process.checkErrors();
            }
        });
    }

    private void count(String what, Map<Server, Long> counted, Server server, long now) {
        final Long before = counted.put(server, now);
        simulation.eventCounters().add(what, now - (before == null ? 0 : before));
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
                    && !damaged().contains(server.serverId())) {
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
}
