package org.rowankv.sim.cluster;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.BackendShards;
import org.rowankv.server.frontend.PendingChangesRequest;
import org.rowankv.sim.SeedStreams;
import org.rowankv.topology.Configuration;

/** The servers of a cluster, as seen by a subscriber: a connection ends when its server changes its roles, or is paused. */
final class ClusterStreams extends SeedStreams {
    private record Connected(SimProcess.Door door, OfServer source) {}

    private final ClusterSimulation simulation;
    private final RandomSource random;
    private final Map<Integer, Connected> connections = new HashMap<>();
    private @Nullable Configuration known;

    ClusterStreams(ClusterSimulation simulation, RandomSource random) {
        super(simulation);
        this.simulation = simulation;
        this.random = random;
    }

    @Override
    public Configuration configuration() {
        final Configuration now = known;
        return now == null ? simulation.served() : now;
    }

    /** All servers serve for the first time. */
    void begin() {
        known = simulation.served();
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
            connections.remove(server);
            return null;
        }
        final Connected present = connections.get(server);
        if (present != null && present.door().equals(door)) {
            return present.source();
        }
        final OfServer source = new OfServer(
                new BackendShards(door.server()), () -> door.configuration().term());
        connections.put(server, new Connected(door, source));
        return source;
    }

    @Override
    public void requireServing(int shard) {
        // The server is restarted.
    }

    @Override
    protected @Nullable Server serving(int number) {
        final SimProcess process = simulation.hosts().get(number).process();
        final SimProcess.Door door = process == null ? null : process.door();
        return door == null || door.server().isStopped() ? null : door.server();
    }
}
