package org.rowankv.server.engine;

import java.util.function.Function;
import org.rowankv.server.dispatch.WorkerPool;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.replication.Replicator;
import org.rowankv.server.request.Worker;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.LimitedCaches;

/** Creates the worker contexts of a server: for callers, for event loops, and for the agents. */
record WorkerContexts(
        ServerContext parts,
        int serverId,
        ServerLinks links,
        CurrentRoles roles,
        InFlightWindow inFlightWindow,
        LimitedCaches limits) {

    /** @param replicators creates the replicator of one worker, over its connections */
    WorkerPool pool(Function<BackupConnections, Replicator> replicators) {
        return WorkerPool.of(
                parts.settings().workers(), parts.ios().size(), (slot, loop) -> worker(slot, loop, replicators));
    }

    private Worker worker(int slot, int loop, Function<BackupConnections, Replicator> replicators) {
        final BackupConnections own = links.make();
        if (loop >= 0) {
            own.at(parts.ios().get(loop));
        }
        final ServerSettings settings = parts.settings();
        final int atOnce = settings.mutationsPerWorker();
        final Worker worker = new Worker(
                slot * atOnce,
                slot < settings.workers() ? atOnce : 1,
                serverId,
                parts.segments(),
                roles,
                parts.permit(),
                replicators.apply(own),
                inFlightWindow,
                parts.pressure(),
                parts.clock(),
                limits,
                settings.minReplicas());
        if (slot == settings.workers()) {
            worker.tLog().takesOfReserve(); // the agents' own: it only ends live entries
        }
        if (settings.verifyReads()) {
            worker.verifyReads();
        }
        return worker;
    }
}
