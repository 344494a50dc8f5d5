package org.rowankv.sim.cluster;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.BackendShards;
import org.rowankv.server.frontend.PendingChangesRequest;
import org.rowankv.server.frontend.RequestBackend;
import org.rowankv.sim.service.Scene;
import org.rowankv.sim.service.Service;
import org.rowankv.sim.service.StreamServers;
import org.rowankv.sim.service.Subscriber;
import org.rowankv.sim.service.VisibleObject;
import org.rowankv.sim.workload.CacheLife;
import org.rowankv.sim.workload.SimValues;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * A subscriber of the clients' cache in a cluster. Its connection to a server ends when that changes its roles, or is
 * paused.
 */
final class ClusterStreams extends SimTask implements Scene, StreamServers {
    private static final int FRAME = 1 << 20;

    private final ClusterSimulation simulation;
    private final RandomSource random;
    private final Subscriber subscriber;
    private final SimValues values;
    private final Map<ByteBuffer, Integer> keys = new HashMap<>();
    private final Map<Integer, OfServer> sources = new HashMap<>();
    private @Nullable Configuration known;

    ClusterStreams(ClusterSimulation simulation, RandomSource random, CallerLog log) {
        super(null);
        this.simulation = simulation;
        this.random = random.fork("routing");
        final ClusterPlan plan = simulation.plan();
        this.values = new SimValues(plan.smallValue(), plan.largeValue());
        this.subscriber = new Subscriber(
                this, this, random.fork("subscriber"), log, plan.workload().hidesEnds(), plan.stepNs());
    }

    private record OfServer(SimProcess.Door door, RequestBackend served) implements PendingChangesRequest.Source {
        @Override
        public Status whyNotServed(int shard, long clientTerm) {
            final long term = door.configuration().term();
            if (!served.isServing()) {
                return Status.CLOSED;
            }
            if (clientTerm > term) {
                return Status.NOT_PRIMARY;
            }
            return served.isPrimary(shard) ? Status.OK : clientTerm < term ? Status.STALE_TERM : Status.NOT_PRIMARY;
        }

        @Override
        public int maxFrame() {
            return FRAME;
        }
    }

    /** All servers serve for the first time. */
    void begin() {
        known = simulation.served();
        simulation.scheduler().add(this);
    }

    void arrived(Request request) {
        subscriber.arrived(request);
    }

    void answered(Request request) {
        subscriber.answered(request);
    }

    /** The clients pause, and all servers serve. */
    void rest() {
        subscriber.rest();
    }

    void read(int key, Event read) {
        subscriber.read(key, read);
    }

    void afterReads() {
        subscriber.afterReads();
    }

    @Override
    public long readyAtNs() {
        return subscriber.readyAtNs();
    }

    @Override
    public void step() {
        subscriber.step();
    }

    // --- the servers ---

    private CacheLife first() {
        return simulation.workload().caches().first();
    }

    @Override
    public int cacheId() {
        return first().id();
    }

    @Override
    public Configuration configuration() {
        final Configuration now = known;
        return now == null ? simulation.served() : now;
    }

    @Override
    public void lookElsewhere() {
        final SimHost host =
                simulation.hosts().get(random.nextInt(simulation.hosts().size()));
        final SimProcess process = host.process();
        final SimProcess.Door door = process == null ? null : process.door();
        if (door != null && door.configuration().term() > configuration().term()) {
            known = door.configuration();
        }
    }

    @Override
    public PendingChangesRequest.@Nullable Source source(int server) {
        final SimProcess process = simulation.hosts().get(server).process();
        final SimProcess.Door door = process == null ? null : process.door();
        final SimNetworkLinks wire = simulation.wire();
        if (process == null
                || door == null
                || door.server().isStopped()
                || process.pausedUntilNs() > simulation.timeline().nowNs()
                || wire.isCut(wire.clients(), server)
                || wire.isCut(server, wire.clients())) {
            sources.remove(server);
            return null;
        }
        final OfServer present = sources.get(server);
        if (present != null && present.door().equals(door)) {
            return present;
        }
        final OfServer connected = new OfServer(door, new BackendShards(door.server()));
        sources.put(server, connected);
        return connected;
    }

    @Override
    public void requireServing(int shard) {
        // The server is restarted.
    }

    @Override
    public int keyOf(byte[] key) {
        for (int number = keys.size(); number < first().keys(); number++) {
            keys.put(ByteBuffer.wrap(CacheLife.keyBytes(number)), number);
        }
        return keys.getOrDefault(ByteBuffer.wrap(key), -1);
    }

    @Override
    public int shardOf(int key) {
        return ShardMap.shardOf(hashOf(CacheLife.keyBytes(key)), configuration().shardCount());
    }

    private long hashOf(byte[] key) {
        return new KeyHash(configuration().hashSeed()).hash(cacheId(), key, 0, key.length);
    }

    @Override
    public long valueOf(byte[] value) {
        return values.idIn(value, value.length);
    }

    @Override
    public long visibleVersion(int number, int shard, byte[] key) {
        final SimProcess process = simulation.hosts().get(number).process();
        final SimProcess.Door door = process == null ? null : process.door();
        final Server server = door == null ? null : door.server();
        return server == null || server.isStopped() || !server.isPrimary(shard)
                ? Version.NONE
                : VisibleObject.version(server, shard, cacheId(), hashOf(key), key);
    }

    // --- the simulation ---

    @Override
    public long nowNs() {
        return simulation.timeline().nowNs();
    }

    @Override
    public void violation(String what) {
        // Without another replica damage may revert received changes.
        simulation.deviceFaults().requireNoLoss(false, what);
    }

    @Override
    public void requireDamage(String what) {
        simulation.deviceFaults().requireRotten(what);
    }

    @Override
    public void count(String what, long times) {
        simulation.eventCounters().add(what, times);
    }

    @Override
    public void mix(long value) {
        simulation.trace().mix(value);
    }

    @Override
    public boolean isRead() {
        return simulation.trace().isRead();
    }

    @Override
    public void tell(String words) {
        simulation.trace().tell(words);
    }

    @Override
    public void changed(Service service) {
        simulation.scheduler().changed(this);
    }

    @Override
    public void park(long ns) {
        simulation.scheduler().park(ns);
    }

    @Override
    public String toString() {
        return "subscriber";
    }
}
