package org.rowankv.sim.cluster;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.check.history.Action;
import org.rowankv.check.history.Anomaly;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.HistoryRecorder;
import org.rowankv.check.history.KeyHistoryChecker;
import org.rowankv.check.history.Outcome;
import org.rowankv.placement.Configuration;
import org.rowankv.placement.KeyHash;
import org.rowankv.placement.ShardMap;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.Server;
import org.rowankv.sim.SimValues;
import org.rowankv.sim.StateJudge;

/** Looks at a cluster that rests: what every key holds, how that came about, and the servers' own state. */
final class ClusterJudge {
    private static final int TURNS_TO_SETTLE = 400;

    private final ClusterSimulation simulation;
    private final HistoryRecorder history;
    private final SimValues values;
    private final StateJudge states;
    private final KeyHistoryChecker checker = new KeyHistoryChecker();

    ClusterJudge(ClusterSimulation simulation, HistoryRecorder history, SimValues values) {
        this.simulation = simulation;
        this.history = history;
        this.values = values;
        this.states = new StateJudge(simulation::violation);
    }

    /** Reads every key and judges its history since the last time; then compares the replicas. All servers serve. */
    void judgeWindow() {
        final Configuration configuration = simulation.served();
        final List<Server> servers = servers();
        awaitDigested(servers);
        for (int key = 0; key < simulation.plan().keys(); key++) {
            final Event read = read(key, configuration, servers);
            simulation.streams().read(key, read);
            for (Anomaly anomaly : history.judge(key, read, checker)) {
                simulation.violation(anomaly.toString());
            }
        }
        simulation.streams().afterReads();
        history.clear();
        simulation.happenings().count("windows judged");
        awaitDigested(servers);
        states.requireAgreement(configuration, servers);
        states.requireCounts(servers, configuration.shardCount(), simulation.cacheId());
        states.requireSegments(servers);
        simulation.hosts().forEach(host -> {
            final SimProcess process = host.process();
            if (process != null) {
                process.judgeErrors();
            }
        });
    }

    private List<Server> servers() {
        final List<Server> servers = new ArrayList<>();
        for (SimHost host : simulation.hosts()) {
            final SimProcess process = host.process();
            final SimProcess.Door door = process == null ? null : process.door();
            if (door == null) {
                throw new AssertionError("not all serve");
            }
            servers.add(door.server());
        }
        return servers;
    }

    private void awaitDigested(List<Server> servers) {
        for (Server server : servers) {
            // Two more: the first may have begun before what the judge cares for had landed.
            final long enough = server.digestedTurns() + 2;
            while (server.digestedTurns() < enough) {
                server.wakeUp();
                simulation.turns().park(20_000);
            }
        }
    }

    private Event read(int key, Configuration configuration, List<Server> servers) {
        final byte[] bytes = SimUser.keyBytes(key);
        final Request request = new Request().get(simulation.cacheId(), bytes, 0, bytes.length);
        final long hashed = new KeyHash(configuration.hashSeed()).hash(simulation.cacheId(), bytes, 0, bytes.length);
        final int shard = ShardMap.shardOf(hashed, configuration.shardCount());
        request.placed(hashed, shard);
        simulation.timeline().advance(1);
        final long invokedNs = simulation.timeline().nowNs();
        servers.get(configuration.shard(shard).primary()).call(request);
        simulation.timeline().advance(1);
        if (request.status() != Status.OK && request.status() != Status.NOT_FOUND) {
            simulation.violation("a read of key " + key + " at rest was answered " + request.status());
        }
        final boolean found = request.status() == Status.OK;
        final long observed = found ? values.idIn(request.result(), request.resultLength()) : Event.NOT_ASKED;
        simulation.trace().mix(observed);
        return new Event(
                -1,
                Action.GET,
                Event.ABSENT,
                0,
                found ? Outcome.DONE : Outcome.NOT_FOUND,
                found ? request.version() : 0,
                0,
                observed,
                invokedNs,
                simulation.timeline().nowNs());
    }

    /** Closes every session; then what is taken must be what lives. */
    void judgeSpace() {
        final Configuration configuration = simulation.served();
        final List<Server> servers = servers();
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final Server primary = servers.get(configuration.shard(shard).primary());
            for (long sessionId : primary.openSessions(shard)) {
                final Request request = new Request().closeSession(shard, sessionId);
                primary.call(request);
                if (request.status() != Status.OK) {
                    simulation.violation("closing a session at rest was answered " + request.status());
                }
            }
        }
        String difference = "";
        for (int i = 0; i < TURNS_TO_SETTLE; i++) {
            servers.forEach(Server::releaseGrants);
            awaitDigested(servers);
            difference = states.spaceDifference(servers);
            if (difference.isEmpty()) {
                return;
            }
            simulation.turns().park(5_000_000);
        }
        simulation.violation("space is not accounted for: " + difference);
    }
}
