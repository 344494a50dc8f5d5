package org.rowankv.server.checkpoint;

import java.util.function.Consumer;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.area.Superblock;
import org.rowankv.server.checkpoint.Checkpoint.Origin;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;

/**
 * The checkpoints of one server for one term of its roles: one is loaded at its start, others are taken while it serves.
 * Used by the thread that starts and stops the server.
 */
public final class ServerCheckpoints {
    private final CheckpointStore store;
    private final Origin origin;
    private final Segments segments;
    private final long intervalNs;
    private final CheckpointLoader loader;
    private CheckpointRegistry registry;
    private @Nullable CheckpointAgent agent;
    private @Nullable AgentHandle handle;

    /**
     * @param replicas that the area is read into
     * @param hashSeed of the configuration
     * @param intervalNs between two checkpoints; 0: none are taken, and existing ones are removed
     */
    public ServerCheckpoints(
            CheckpointStore store, Segments segments, Replicas replicas, long hashSeed, long intervalNs) {
        final Superblock superblock = segments.area().superblock();
        this.store = store;
        this.segments = segments;
        this.intervalNs = intervalNs;
        this.origin = new Origin(
                superblock.clusterId(),
                superblock.areaId(),
                superblock.fileIdentity(),
                hashSeed,
                segments.area().serverId(),
                superblock.shardCount(),
                superblock.segmentCount(),
                superblock.segmentLength());
        this.registry = new CheckpointRegistry(segments, replicas);
        this.loader = new CheckpointLoader(store, origin, segments, replicas, registry);
    }

    /** Reads the area, on a thread that may access files. @param area receives what loads a checkpoint, or null */
    public void read(Consumer<@Nullable CheckpointLoader> area) {
        store.run("rowan-recovery-" + origin.serverId(), () -> {
            if (intervalNs == 0) {
                CheckpointLoader.removeAll(store);
            }
            area.accept(intervalNs == 0 ? null : loader);
        });
    }

    /**
     * The area is to be emptied: removes all checkpoints. What follows begins without an image, since a replica of
     * another tenure may have changed as often as the one that was read.
     */
    public void discard(Replicas next) {
        store.run("rowan-checkpoint-removal", () -> CheckpointLoader.removeAll(store));
        registry = new CheckpointRegistry(segments, next);
    }

    /**
     * Starts to take checkpoints.
     *
     * @param lastVersion the last version assigned, of a shard whose primary the server is, else 0
     */
    public void start(
            Replicas replicas, IntToLongFunction lastVersion, Clock clock, Scheduling scheduling, ErrorLog errors) {
        if (intervalNs == 0) {
            return;
        }
        final CheckpointAgent started = new CheckpointAgent(
                registry, store, origin, segments, replicas, lastVersion, clock, errors, intervalNs);
        agent = started;
        handle = scheduling.take(started, errors);
        handle.start();
    }

    /** Stops to take them, except for {@link #takeLast}; abandons one in progress. */
    public void stop() {
        if (handle != null) {
            handle.close();
        }
    }

    /** Whether {@link #takeLast} need not wait. After {@link #stop}. */
    public boolean couldSettle() {
        return agent == null || agent.couldSettle();
    }

    /** Takes a last one of everything, after {@link #stop}, once the server is quiescent. */
    public void takeLast() {
        final CheckpointAgent last = agent;
        if (last != null) {
            store.run("rowan-checkpoint-" + origin.serverId(), last::takeLast);
        }
    }

    /** Whether the server has started from one. */
    public boolean isLoaded() {
        return loader.isLoaded();
    }

    public CheckpointStatistics statistics() {
        return new CheckpointStatistics(agent == null ? 0 : agent.taken(), isLoaded() ? 1 : 0, loader.items());
    }
}
