package org.rowankv.bench.trace;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.rowankv.driver.RowanClient;
import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.LandingForce;
import org.rowankv.rdma.local.LocalFabric;
import org.rowankv.rdma.local.LocalFabricSettings;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.Machine;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedContext;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.engine.ServerStatistics;

/**
 * A new embedded store whose writes a {@link WriteTrace} has. One thread uses it and runs its agents: equal operations
 * give equal traces.
 */
final class TappedStore implements AutoCloseable {
    private static final long SEED = 1;
    /** Operations of clients between two steps of the agents. */
    private static final int OPERATIONS_PER_STEP = 16;

    private final WriteTrace trace = new WriteTrace();
    private final Map<Integer, LandingForce> landings = new HashMap<>();
    private final SteppedAgents agents = new SteppedAgents();
    private final RandomSource random = new SplittableRandomSource(SEED);
    private final EmbeddedCluster cluster;
    private final RowanClient client;
    private long segmentBase;
    private int operations;

    TappedStore(Path directory, Consumer<EmbeddedSettings.Builder> change) {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.dir = directory;
            with.durability = Durability.PROCESS;
            with.checkpointIntervalMs = 0;
            with.scrubMibPerSecond = 0;
            change.accept(with);
        });
        final Fabric local = new LocalFabric(LocalFabricSettings.of(with -> {
            with.maxMessage = settings.shape().maxMessage();
            with.ackLevel = AckLevel.FORCED;
            with.keepsReserve = true;
        }));
        this.cluster = EmbeddedCluster.open(
                settings,
                new EmbeddedContext(
                        server -> agents,
                        random.fork("store"),
                        agents,
                        unused -> new TappedFabric(local, landings),
                        null,
                        new Machine(Machine.PRESENT.bootId(), this::tapped),
                        usual -> {},
                        1,
                        true));
        this.client = new RowanClient(cluster.session(), agents, random.fork("client"));
    }

    private AreaMemory tapped(AreaSettings settings, AreaMemory memory) {
        final TappedMemory tapped = new TappedMemory(settings, memory, trace);
        landings.put(tapped.server(), tapped.landings());
        segmentBase = tapped.segmentBase();
        return tapped;
    }

    WriteTrace trace() {
        return trace;
    }

    /** Address of the first segment of each server. */
    long segmentBase() {
        return segmentBase;
    }

    RowanClient client() {
        return client;
    }

    /** Called after each operation: the agents run now and then. */
    void operated() {
        operations++;
        if (operations % OPERATIONS_PER_STEP == 0) {
            agents.step();
        }
    }

    /** Runs until the backups have digested all that has landed. */
    void settle() {
        cluster.awaitDigested();
    }

    List<ServerStatistics> statistics() {
        return cluster.statistics();
    }

    @Override
    public void close() {
        client.close();
        cluster.close();
    }
}
