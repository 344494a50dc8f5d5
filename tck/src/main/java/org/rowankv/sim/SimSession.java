package org.rowankv.sim;

import java.util.function.Consumer;
import org.rowankv.driver.Catalogue;
import org.rowankv.driver.ScanPage;
import org.rowankv.driver.Session;
import org.rowankv.placement.Configuration;
import org.rowankv.protocol.Request;

/**
 * What clients see of the store, whichever incarnation of it is up. Attempts that matter go through the network in steps;
 * what is called here is carried to its end, with everybody else going on meanwhile.
 */
final class SimSession implements Session {
    private final Simulation simulation;

    SimSession(Simulation simulation) {
        this.simulation = simulation;
    }

    @Override
    public Configuration configuration() {
        return simulation.store().cluster().configuration();
    }

    @Override
    public boolean mayLoseReplies() {
        return true;
    }

    @Override
    public void call(Request request) {
        simulation.store().cluster().session().call(request);
    }

    @Override
    public void submit(Request request, Consumer<Request> whenAnswered) {
        call(request);
        whenAnswered.accept(request);
    }

    @Override
    public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
        return simulation.store().cluster().session().scan(cacheId, shard, position, limit, withValues);
    }

    @Override
    public Catalogue catalogue() {
        return simulation.store().cluster().session().catalogue();
    }

    @Override
    public void close() {
        // The store is closed by the simulation.
    }
}
