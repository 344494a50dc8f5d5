package org.rowankv.sim.embedded;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Status;
import org.rowankv.sim.Task;
import org.rowankv.sim.workload.CacheLife;
import org.rowankv.sim.workload.WorkloadCaches;

/** A change of the caches, completed in one step, in which other tasks run. */
final class CatalogueChange extends Task {
    private final EmbeddedSimulation simulation;
    private final int cache;
    private final @Nullable CacheLife life;
    private final boolean creates;

    CatalogueChange(EmbeddedSimulation simulation, int cache, @Nullable CacheLife life, boolean creates) {
        this.simulation = simulation;
        this.cache = cache;
        this.life = life;
        this.creates = creates;
    }

    @Override
    public long readyAtNs() {
        return 0;
    }

    @Override
    public void step() {
        try {
            change(
                    simulation.workload().caches(),
                    simulation.store().cluster().session().catalogue());
        } catch (RowanException e) {
            onRefusal(e);
        }
    }

    private void change(WorkloadCaches caches, Catalogue catalogue) {
        if (life != null) {
            caches.destroy(life, catalogue);
        }
        if (creates) {
            caches.create(cache, catalogue);
        }
    }

    /**
     * An unfinished change completes at the next start, or in a pause: in stores with blocking callers, each step
     * of a change has their deadline.
     */
    private void onRefusal(RowanException refusal) {
        final boolean isMet = refusal.status() == Status.UNREACHABLE || refusal.status() == Status.OUTCOME_UNKNOWN;
        if (simulation.storePlan().deadlineMs() == 0
                || !isMet
                || simulation.stops().explains(refusal)) {
            simulation.stops().onRefusal(refusal);
        } else {
            simulation.eventCounters().count("changes of caches that met a deadline");
        }
    }

    @Override
    public String toString() {
        return "the change of cache " + cache;
    }
}
