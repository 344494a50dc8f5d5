package org.rowankv.sim.embedded;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.dispatch.RequestDispatch;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.BackendShards;
import org.rowankv.server.frontend.PendingChangesRequest;
import org.rowankv.sim.SeedStreams;
import org.rowankv.topology.Configuration;

/** The servers of a simulated store, as seen by subscribers of their changes. */
final class StoreStreams extends SeedStreams {
    private final EmbeddedSimulation simulation;
    private @Nullable EmbeddedCluster cluster;
    private List<PendingChangesRequest.Source> sources = List.of();

    StoreStreams(EmbeddedSimulation simulation) {
        super(simulation);
        this.simulation = simulation;
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
                    .<PendingChangesRequest.Source>map(each -> new OfServer(
                            new BackendShards(each), () -> now.configuration().term()))
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
    protected Server serving(int number) {
        return simulation.store().cluster().servers().get(number);
    }
}
