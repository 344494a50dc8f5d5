package org.rowankv.bench.trace;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.rowankv.driver.RowanClient;
import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.LandingForce;
import org.rowankv.rdma.local.LocalFabric;
import org.rowankv.rdma.local.LocalFabricSettings;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.Machine;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedContext;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.engine.ServerStatistics;

/** A new embedded store whose writes a {@link WriteTrace} has. Thread-safe; clients are for one thread each. */
final class TappedStore implements AutoCloseable {
    private final WriteTrace trace = new WriteTrace();
    private final Map<Integer, LandingForce> landings = new ConcurrentHashMap<>();
    private final EmbeddedCluster cluster;
    private volatile long segmentBase;

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
        final EmbeddedContext usual = EmbeddedContext.machine();
        this.cluster = EmbeddedCluster.open(
                settings,
                new EmbeddedContext(
                        usual.clocks(),
                        usual.random(),
                        usual.scheduling(),
                        unused -> new TappedFabric(local, landings),
                        null,
                        new Machine(usual.areaMachine().bootId(), this::tapped),
                        usual.tuning(),
                        usual.scanThreads(),
                        usual.clientsEndWithStore()));
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

    RowanClient client(long seed) {
        return new RowanClient(cluster.session(), SystemClock.INSTANCE, new SplittableRandomSource(seed));
    }

    /** Waits until the backups have digested all that has landed. */
    void settle() {
        cluster.awaitDigested();
    }

    List<ServerStatistics> statistics() {
        return cluster.statistics();
    }

    @Override
    public void close() {
        cluster.close();
    }
}
