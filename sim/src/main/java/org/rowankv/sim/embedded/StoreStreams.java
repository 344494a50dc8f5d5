package org.rowankv.sim.embedded;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.server.dispatch.RequestDispatch;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.BackendShards;
import org.rowankv.server.frontend.PendingChangesRequest;
import org.rowankv.server.frontend.RequestBackend;
import org.rowankv.sim.service.StreamServers;
import org.rowankv.sim.service.VisibleObject;
import org.rowankv.sim.workload.CacheLife;
import org.rowankv.sim.workload.SimValues;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;

/** The servers of a simulated store, as seen by subscribers of their changes. */
final class StoreStreams implements StreamServers {
    private static final int FRAME = 1 << 20;

    private final Simulation simulation;
    private final Map<ByteBuffer, Integer> keys = new HashMap<>();
    private final SimValues values;
    private @Nullable EmbeddedCluster cluster;
    private List<PendingChangesRequest.Source> sources = List.of();

    StoreStreams(Simulation simulation) {
        this.simulation = simulation;
        this.values =
                new SimValues(simulation.plan().smallValue(), simulation.plan().largeValue());
    }

    private record OfServer(RequestBackend served) implements PendingChangesRequest.Source {
        @Override
        public Status whyNotServed(int shard, long clientTerm) {
            if (!served.isServing()) {
                return Status.CLOSED;
            }
            return served.isPrimary(shard) ? Status.OK : Status.NOT_PRIMARY;
        }

        @Override
        public int maxFrame() {
            return FRAME;
        }
    }

    @Override
    public int cacheId() {
        return simulation.workload().caches().first().id();
    }

    @Override
    public Configuration configuration() {
        return simulation.store().cluster().configuration();
    }

    @Override
    public void lookElsewhere() {
        // There is one configuration, always available.
    }

    @Override
    public PendingChangesRequest.@Nullable Source source(int server) {
        final SimLinks links = simulation.store().links();
        if (!simulation.store().isUp()
                || !simulation.isCalm()
                        && (links.isCut(links.clients(), server) || links.isCut(server, links.clients()))) {
            return null;
        }
        final EmbeddedCluster now = simulation.store().cluster();
        if (now != cluster) {
            cluster = now;
            sources = now.servers().stream()
                    .<PendingChangesRequest.Source>map(each -> new OfServer(new BackendShards(each)))
                    .toList();
        }
        return sources.get(server);
    }

    @Override
    public void requireServing(int shard) {
        final RequestDispatch requests = simulation.store().serverOf(shard).requests();
        requests.endRead(requests.beginRead(shard));
    }

    @Override
    public int keyOf(byte[] key) {
        final CacheLife first = simulation.workload().caches().first();
        for (int number = keys.size(); number < first.keys(); number++) {
            keys.put(ByteBuffer.wrap(CacheLife.keyBytes(number)), number);
        }
        return keys.getOrDefault(ByteBuffer.wrap(key), -1);
    }

    @Override
    public int shardOf(int key) {
        return simulation.workload().caches().first().shardOf(key);
    }

    @Override
    public long valueOf(byte[] value) {
        return values.idIn(value, value.length);
    }

    @Override
    public long visibleVersion(int server, int shard, byte[] key) {
        final Server primary = simulation.store().cluster().servers().get(server);
        if (!primary.isPrimary(shard)) {
            return Version.NONE; // it moves
        }
        final long hash = new KeyHash(configuration().hashSeed()).hash(cacheId(), key, 0, key.length);
        return VisibleObject.version(primary, shard, cacheId(), hash, key);
    }
}
