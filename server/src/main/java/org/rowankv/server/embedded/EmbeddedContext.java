package org.rowankv.server.embedded;

import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.Fabric;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.Machine;
import org.rowankv.server.checkpoint.CheckpointStore;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.engine.ServerSettings;

/**
 * Environment of an embedded cluster, apart from its settings: one component per seam. Applications use the machine's;
 * a simulation supplies its own.
 *
 * @param clocks of each server
 * @param random of the whole cluster; each component forks its own
 * @param scheduling of the servers' agents
 * @param fabric wraps the local fabric
 * @param memories storage of areas and configuration instead of a directory, or null
 * @param areaMachine machine for areas in files
 * @param tuning of every server's process values
 * @param scanThreads threads that read an existing area in parallel
 * @param clientsEndWithStore whether no client can resume a session after the store was closed or has crashed
 */
public record EmbeddedContext(
        IntFunction<Clock> clocks,
        RandomSource random,
        Scheduling scheduling,
        UnaryOperator<Fabric> fabric,
        @Nullable Memories memories,
        Machine areaMachine,
        Consumer<ServerSettings.Builder> tuning,
        int scanThreads,
        boolean clientsEndWithStore) {

    /** Areas, a configuration store and checkpoints that outlive the cluster. */
    public interface Memories {
        /** Whether they are still empty. */
        boolean isNew();

        AreaMemory memory(AreaSettings settings);

        /** Empty memory that replaces the result of {@link #memory} for that server. */
        AreaMemory anew(AreaSettings settings);

        ConfigurationStore store();

        /** Storage of a server's checkpoints. */
        CheckpointStore checkpoints(int server);
    }

    /** This machine's clock and threads. */
    public static EmbeddedContext machine() {
        return of(SystemClock.INSTANCE, SecureSeed.source());
    }

    public static EmbeddedContext of(Clock clock, RandomSource random) {
        return new EmbeddedContext(
                server -> clock,
                random,
                ThreadScheduling.INSTANCE,
                UnaryOperator.identity(),
                null,
                Machine.PRESENT,
                usual -> {},
                usualScanThreads(),
                true);
    }

    /** Half of the processors: a start needs the others for the JVM's compiler; with two, a second reader is slower. */
    private static int usualScanThreads() {
        return Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    }

    /** The same with other process values of each server. */
    public EmbeddedContext withTuning(Consumer<ServerSettings.Builder> newTuning) {
        return new EmbeddedContext(
                clocks, random, scheduling, fabric, memories, areaMachine, newTuning, scanThreads, clientsEndWithStore);
    }

    EmbeddedContext withScanThreads(int threads) {
        return new EmbeddedContext(
                clocks, random, scheduling, fabric, memories, areaMachine, tuning, threads, clientsEndWithStore);
    }

    /** The same on another machine. */
    public EmbeddedContext withMachine(Machine other) {
        return new EmbeddedContext(
                clocks, random, scheduling, fabric, memories, other, tuning, scanThreads, clientsEndWithStore);
    }
}
