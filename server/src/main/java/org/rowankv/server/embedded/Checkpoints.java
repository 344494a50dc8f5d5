package org.rowankv.server.embedded;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.server.area.Superblock;
import org.rowankv.server.checkpoint.Checkpoint.Origin;
import org.rowankv.server.checkpoint.CheckpointAgent;
import org.rowankv.server.checkpoint.CheckpointLoader;
import org.rowankv.server.checkpoint.CheckpointRegistry;
import org.rowankv.server.checkpoint.CheckpointStatistics;
import org.rowankv.server.checkpoint.CheckpointStore;
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

    /** Checkpoint state of one server. */
    private static final class ServerCheckpoints {
        final CheckpointStore store;
        final Origin origin;
        final CheckpointRegistry registry;
        final CheckpointLoader loader;

        @Nullable
        CheckpointAgent agent;

        @Nullable
        AgentHandle handle;

        ServerCheckpoints(CheckpointStore store, Origin origin, RecoveredServer server) {
            this.store = store;
            this.origin = origin;
            this.registry = new CheckpointRegistry(server.segments(), server.replicas());
            this.loader = new CheckpointLoader(store, origin, server.segments(), server.replicas(), registry);
        }
    }

    private final EmbeddedSettings settings;
    private final StoreFiles files;
    private final EmbeddedContext context;
    private final List<ServerCheckpoints> all = new ArrayList<>();

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
        if (settings.checkpointIntervalMs() == 0) {
            store.run("rowan-checkpoint-removal", () -> CheckpointLoader.removeAll(store));
            server.read(context.scanThreads(), clock, null);
            return;
        }
        final Superblock superblock = server.segments().area().superblock();
        final ServerCheckpoints each = new ServerCheckpoints(
                store,
                new Origin(
                        superblock.clusterId(),
                        superblock.areaId(),
                        superblock.fileIdentity(),
                        found.hashSeed(),
                        server.serverId(),
                        superblock.shardCount(),
                        superblock.segmentCount(),
                        superblock.segmentLength()),
                server);
        all.add(each);
        store.run("rowan-recovery-" + server.serverId(), () -> server.read(context.scanThreads(), clock, each.loader));
    }

    /** Starts to take checkpoints. */
    void start(List<Server> servers, ErrorLog errors) {
        for (ServerCheckpoints each : all) {
            final Server server = servers.get(each.origin.serverId());
            final CheckpointAgent agent = new CheckpointAgent(
                    each.registry,
                    each.store,
                    each.origin,
                    server.segments(),
                    server.replicas(),
                    server::lastVersion,
                    context.clocks().apply(server.serverId()),
                    errors,
                    settings.checkpointIntervalMs() * 1_000_000);
            each.agent = agent;
            each.handle = context.scheduling().take(agent, errors);
            each.handle.start();
        }
    }

    /** Stops, and abandons a checkpoint in progress. */
    void abandon() {
        for (ServerCheckpoints each : all) {
            if (each.handle != null) {
                each.handle.close();
            }
        }
    }

    /** Stops, except for {@link #takeLast}. Waits briefly until all writes are committed everywhere. */
    void stop(List<Server> servers) {
        for (ServerCheckpoints each : all) {
            if (each.handle != null) {
                each.handle.close();
            }
        }
        for (int parks = 0; parks < SETTLING_PARKS && !couldSettle(); parks++) {
            servers.forEach(Server::wakeUp);
            context.scheduling().park(PARK_NS);
        }
    }

    private boolean couldSettle() {
        for (ServerCheckpoints each : all) {
            if (each.agent != null && !each.agent.couldSettle()) {
                return false;
            }
        }
        return true;
    }

    /** Takes the last checkpoint. Call after all agents are stopped, and before the areas are closed. */
    void takeLast() {
        for (ServerCheckpoints each : all) {
            final CheckpointAgent agent = each.agent;
            if (agent != null) {
                each.store.run("rowan-checkpoint-" + each.origin.serverId(), agent::takeLast);
            }
        }
    }

    CheckpointStatistics statistics() {
        long taken = 0;
        long loaded = 0;
        long objects = 0;
        for (ServerCheckpoints each : all) {
            taken += each.agent == null ? 0 : each.agent.taken();
            loaded += each.loader.isLoaded() ? 1 : 0;
            objects += each.loader.items();
        }
        return new CheckpointStatistics(taken, loaded, objects);
    }
}
