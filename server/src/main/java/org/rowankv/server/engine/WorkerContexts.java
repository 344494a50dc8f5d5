package org.rowankv.server.engine;

import java.util.function.Function;
import org.rowankv.server.dispatch.WorkerPool;
import org.rowankv.server.replication.InFlight;
import org.rowankv.server.replication.Links;
import org.rowankv.server.replication.Replicator;
import org.rowankv.server.request.Worker;
import org.rowankv.server.shard.LimitedCaches;

/** Makes the worker contexts of a server: those for its callers, those of its event loops, and the agents' own. */
record WorkerContexts(ServerParts parts, int serverId, ServerLinks links, InFlight inFlight, LimitedCaches limits) {

    /** @param replicators of what one worker writes, over its links */
    WorkerPool pool(Function<Links, Replicator> replicators) {
        return WorkerPool.of(
                parts.settings().workers(), parts.ios().size(), (slot, loop) -> worker(slot, loop, replicators));
    }

    private Worker worker(int slot, int loop, Function<Links, Replicator> replicators) {
        final Links own = links.make();
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
                replicators.apply(own),
                inFlight,
                parts.pressure(),
                parts.clock(),
                limits);
        if (slot == settings.workers()) {
            worker.tLog().takesOfReserve(); // the agents' own: it only ends what lives
        }
        if (settings.verifyReads()) {
            worker.verifyReads();
        }
        return worker;
    }
}
