package org.rowankv.server.embedded;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.server.checkpoint.CheckpointStatistics;
import org.rowankv.server.checkpoint.CheckpointStore;
import org.rowankv.server.checkpoint.ServerCheckpoints;
import org.rowankv.server.engine.Server;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.topology.Configuration;

/**
 * The checkpoints of an embedded store's servers: loaded at its start, taken while it is open, and once more at its
 * close.
 */
final class Checkpoints {
    /** Some tens of milliseconds: CommitVer is sent every 15 ms. */
    private static final int SETTLING_PARKS = 3_000;

    private static final long PARK_NS = 20_000;

    private final EmbeddedSettings settings;
    private final StoreFiles files;
    private final EmbeddedContext context;
    /** By server. */
    private final Map<Integer, ServerCheckpoints> all = new TreeMap<>();

    Checkpoints(EmbeddedSettings settings, StoreFiles files, EmbeddedContext context) {
        this.settings = settings;
        this.files = files;
        this.context = context;
    }

    /** Reads the part of a server's area that no checkpoint covers. Removes nothing from the area. */
    void recover(RecoveredServer server, Configuration found, Clock clock) {
        final CheckpointStore store = files.checkpoints(server.serverId());
        if (store == null) {
            server.read(context.scanThreads(), clock, null);
            return;
        }
        final ServerCheckpoints each = new ServerCheckpoints(
                store,
                server.segments(),
                server.replicas(),
                found.hashSeed(),
                settings.checkpointIntervalMs() * 1_000_000);
        all.put(server.serverId(), each);
        each.read(loader -> server.read(context.scanThreads(), clock, loader));
    }

    /** Starts to take checkpoints. */
    void start(List<Server> servers, ErrorLog errors) {
        for (Server server : servers) {
            final ServerCheckpoints each = all.get(server.serverId());
            if (each != null) {
                each.start(
                        server.replicas(),
                        server::lastVersion,
                        context.clocks().apply(server.serverId()),
                        context.scheduling(),
                        errors);
            }
        }
    }

    /** Stops, and abandons a checkpoint in progress. */
    void abandon() {
        all.values().forEach(ServerCheckpoints::stop);
    }

    /** Stops, except for {@link #takeLast}. Waits briefly until all writes are committed everywhere. */
    void stop(List<Server> servers) {
        all.values().forEach(ServerCheckpoints::stop);
        for (int parks = 0; parks < SETTLING_PARKS && !couldSettle(); parks++) {
            servers.forEach(Server::wakeUp);
            context.scheduling().park(PARK_NS);
        }
    }

    private boolean couldSettle() {
        return all.values().stream().allMatch(ServerCheckpoints::couldSettle);
    }

    /** Takes the last checkpoint. Call after all agents are stopped, and before the areas are closed. */
    void takeLast() {
        all.values().forEach(ServerCheckpoints::takeLast);
    }

    CheckpointStatistics statistics() {
        CheckpointStatistics sum = new CheckpointStatistics(0, 0, 0);
        for (ServerCheckpoints each : all.values()) {
            sum = sum.plus(each.statistics());
        }
        return sum;
    }
}
