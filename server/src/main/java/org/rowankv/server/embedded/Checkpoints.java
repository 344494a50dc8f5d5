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

/** The checkpoints of an embedded store's servers: loaded at its start, taken while it is open, and once more at its close. */
final class Checkpoints {
    /** Some tens of milliseconds: CommitVer is sent every 15. */
    private static final int SETTLING_PARKS = 3_000;

    private static final long PARK_NS = 20_000;

    /** Of one server. */
    private static final class One {
        final CheckpointStore store;
        final Origin origin;
        final CheckpointRegistry book;
        final CheckpointLoader load;

        @Nullable
        CheckpointAgent agent;

        @Nullable
        AgentHandle turned;

        One(CheckpointStore store, Origin origin, RecoveredServer server) {
            this.store = store;
            this.origin = origin;
            this.book = new CheckpointRegistry(server.segments(), server.replicas());
            this.load = new CheckpointLoader(store, origin, server.segments(), server.replicas(), book);
        }
    }

    private final EmbeddedSettings settings;
    private final StoreFiles files;
    private final EmbeddedContext surroundings;
    private final List<One> all = new ArrayList<>();

    Checkpoints(EmbeddedSettings settings, StoreFiles files, EmbeddedContext surroundings) {
        this.settings = settings;
        this.files = files;
        this.surroundings = surroundings;
    }

    /** Reads a server's area, as far as no checkpoint covers it, and removes nothing from it. */
    void recover(RecoveredServer server, Configuration found, Clock clock) {
        final CheckpointStore store = files.checkpoints(server.serverId());
        if (store == null) {
            server.read(surroundings.scanThreads(), clock, null);
            return;
        }
        if (settings.checkpointIntervalMs() == 0) {
            store.run("rowan-checkpoint-removal", () -> CheckpointLoader.removeAll(store));
            server.read(surroundings.scanThreads(), clock, null);
            return;
        }
        final Superblock superblock = server.segments().area().superblock();
        final One one = new One(
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
        all.add(one);
        store.run(
                "rowan-recovery-" + server.serverId(), () -> server.read(surroundings.scanThreads(), clock, one.load));
    }

    /** From now on checkpoints are taken. */
    void start(List<Server> servers, ErrorLog errors) {
        for (One one : all) {
            final Server server = servers.get(one.origin.serverId());
            final CheckpointAgent agent = new CheckpointAgent(
                    one.book,
                    one.store,
                    one.origin,
                    server.segments(),
                    server.replicas(),
                    server::lastVersion,
                    surroundings.clocks().apply(server.serverId()),
                    errors,
                    settings.checkpointIntervalMs() * 1_000_000);
            one.agent = agent;
            one.turned = surroundings.scheduling().take(agent, errors);
            one.turned.start();
        }
    }

    /** No more are taken, and what is under way is given up. */
    void abandon() {
        for (One one : all) {
            if (one.turned != null) {
                one.turned.close();
            }
        }
    }

    /** No more are taken, but for the last. Waits a moment for what was written to be committed everywhere. */
    void stop(List<Server> servers) {
        for (One one : all) {
            if (one.turned != null) {
                one.turned.close();
            }
        }
        for (int parks = 0; parks < SETTLING_PARKS && !couldSettle(); parks++) {
            servers.forEach(Server::wakeUp);
            surroundings.scheduling().park(PARK_NS);
        }
    }

    private boolean couldSettle() {
        for (One one : all) {
            if (one.agent != null && !one.agent.couldSettle()) {
                return false;
            }
        }
        return true;
    }

    /** After everything was stopped, and before the areas are closed. */
    void takeLast() {
        for (One one : all) {
            final CheckpointAgent agent = one.agent;
            if (agent != null) {
                one.store.run("rowan-checkpoint-" + one.origin.serverId(), agent::takeLast);
            }
        }
    }

    CheckpointStatistics statistics() {
        long taken = 0;
        long loaded = 0;
        long objects = 0;
        for (One one : all) {
            taken += one.agent == null ? 0 : one.agent.taken();
            loaded += one.load.isLoaded() ? 1 : 0;
            objects += one.load.items();
        }
        return new CheckpointStatistics(taken, loaded, objects);
    }
}
