package org.rowankv.sim.embedded;

import org.rowankv.sim.StateChecker;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.sim.workload.SimValues;
import org.rowankv.sim.workload.WindowChecker;

/** Checker of a store during a pause: the value and the history of every key, and the servers' internal state. */
final class StoreChecker {
    private static final int TURNS_TO_SETTLE = 400;

    private final EmbeddedSimulation simulation;
    private final WindowChecker window;
    private final StateChecker states;
    private final Ballast ballast;
    private final DamageChecker damage;

    StoreChecker(EmbeddedSimulation simulation, SimValues values) {
        this.simulation = simulation;
        this.window = simulation.workload().windowChecker();
        this.states = new StateChecker(simulation::violation);
        this.damage = new DamageChecker(simulation);
        this.ballast = new Ballast(simulation, values, damage);
    }

    /** Fills the store before any fault. */
    void fill(RowanClient client) {
        ballast.fill(client, simulation.form().ballastPercent());
    }

    /** Reads every key and checks its history since the last pause; then compares the replicas. */
    void checkWindow() {
        final EmbeddedCluster cluster = simulation.store().cluster();
        awaitLimits(cluster);
        window.check(
                request -> {
                    simulation.place(request);
                    simulation.session().call(request);
                    if (request.status() == Status.CORRUPTED) {
                        damage.mend(request);
                    }
                },
                simulation.services()::read);
        simulation.services().afterReads();
        ballast.check();
        cluster.awaitDigested(); // a read may have logged an expiry
        damage.awaitMended();
        damage.requireAgreement(states);
        states.requireCounts(
                damage.whole(cluster.servers()), cluster.configuration().shardCount());
        states.requireEvictions(
                cluster.servers(), simulation.workload().caches().lives());
        states.requireSegments(cluster.servers());
    }

    /** After a device has lied: checks every key's history against the honest devices. Nothing follows. */
    void checkHonest() {
        window.check(
                request -> {
                    simulation.place(request);
                    // First: a primary that has lost the newest value logs that an older one has expired, and all
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

    /** Waits until evictions reach the limits. Precondition: no writer runs. */
    private void awaitLimits(EmbeddedCluster cluster) {
        String above = "";
        for (int i = 0; i < TURNS_TO_SETTLE; i++) {
            above = states.aboveLimits(
                    cluster.configuration(),
                    cluster.servers(),
                    simulation.workload().caches().lives());
            if (above.isEmpty()) {
                return;
            }
            simulation.stops().requireServing();
            simulation.scheduler().park(1_000_000);
        }
        simulation.violation("limits are not kept: " + above);
    }

    /** Closes every session; then the used space must equal the live data. */
    void checkSpace() {
        final EmbeddedCluster cluster = simulation.store().cluster();
        for (int shard = 0; shard < cluster.configuration().shardCount(); shard++) {
            for (long sessionId : simulation
                    .store()
                    .serverOf(shard)
                    .replicas()
                    .get(shard)
                    .sessions()
                    .openIds()) {
                simulation.session().call(new Request().closeSession(shard, sessionId));
            }
        }
        String difference = "";
        for (int i = 0; i < TURNS_TO_SETTLE; i++) {
            cluster.releaseGrants(); // each time: late attempts of vanished clients may still arrive
            cluster.awaitDigested();
            difference = states.spaceDifference(damage.whole(cluster.servers()));
            if (difference.isEmpty()) {
                return;
            }
            simulation.stops().requireServing();
            simulation.scheduler().park(1_000_000);
        }
        simulation.violation("space is not accounted for: " + difference);
    }
}
