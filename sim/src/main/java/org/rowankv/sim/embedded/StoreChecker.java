package org.rowankv.sim.embedded;

import java.util.List;
import java.util.Set;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.SeedChecker;
import org.rowankv.sim.workload.SimValues;

/** Checker of a store during a pause. */
final class StoreChecker extends SeedChecker {
    private final EmbeddedSimulation simulation;
    private final Ballast ballast;
    private final DamageChecker damage;

    StoreChecker(EmbeddedSimulation simulation, SimValues values) {
        super(simulation);
        this.simulation = simulation;
        this.damage = new DamageChecker(simulation);
        this.ballast = new Ballast(simulation, values, damage);
    }

    /** Fills the store before any fault. */
    void fill(RowanClient client) {
        ballast.fill(client, simulation.storePlan().ballastPercent());
    }

    @Override
    protected List<Server> servers() {
        return simulation.store().cluster().servers();
    }

    @Override
    protected Set<Integer> damaged() {
        return simulation.victim().damaged();
    }

    @Override
    protected void read(Request request, List<Server> servers) {
        simulation.session().call(request);
        if (request.status() == Status.CORRUPTED) {
            damage.mend(request);
        }
    }

    @Override
    protected void afterReads() {
        ballast.check();
    }

    @Override
    protected void settle(List<Server> servers) {
        simulation.store().cluster().awaitDigested();
    }

    @Override
    protected void settled() {
        damage.awaitMended();
    }

    @Override
    protected void pause(List<Server> servers, long ns) {
        simulation.stops().requireServing();
        simulation.scheduler().park(ns);
    }

    @Override
    protected void close(Request request, List<Server> servers) {
        simulation.session().call(request);
    }

    /** Damage remains in a segment that is not scrubbed yet, or that has no space for the copy. */
    @Override
    protected void end(List<Server> servers) {
        damaged()
                .forEach(server -> states().requireAgreementBesidesDamage(simulation.configuration(), servers, server));
    }

    /** After a device has lied: checks every key's history against the honest devices. Nothing follows. */
    void checkHonest() {
        window().check(
                        request -> {
                            simulation.place(request);
                            // First: a primary that has lost the newest value logs that an older one has expired, and
                            // all
                            // replicas lose both.
                            damage.answerElsewhere(request);
                            if (isOfUnknownCache(request)) {
                                request.clearAnswer();
                                request.answer(Status.UNKNOWN_CACHE, 0, 0, 0);
                            }
                        },
                        (key, read) -> {});
        simulation.eventCounters().count("windows judged by honest devices");
    }

    private boolean isOfUnknownCache(Request read) {
        final Request again = new Request().get(read.cacheId(), read.key(), read.keyOffset(), read.keyLength());
        simulation.place(again);
        simulation.session().call(again);
        return again.status() == Status.UNKNOWN_CACHE;
    }
}
