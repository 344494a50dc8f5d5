package org.rowankv.sim;

import org.rowankv.check.history.Action;
import org.rowankv.check.history.Anomaly;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.HistoryRecorder;
import org.rowankv.check.history.KeyHistoryChecker;
import org.rowankv.check.history.Outcome;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.embedded.EmbeddedCluster;

/** Looks at a store that rests: what every key holds, how that came about, and the servers' own state. */
final class Judge {
    private static final int TURNS_TO_SETTLE = 400;

    private final Simulation simulation;
    private final HistoryRecorder history;
    private final SimValues values;
    private final StateJudge states;
    private final Ballast ballast;
    private final KeyHistoryChecker checker = new KeyHistoryChecker();
    private final CallerLog expiries;
    private final long[] held;

    Judge(Simulation simulation, HistoryRecorder history, SimValues values) {
        this.simulation = simulation;
        this.history = history;
        this.values = values;
        this.states = new StateJudge(simulation::violation);
        this.ballast = new Ballast(simulation, values);
        this.expiries = history.log(simulation.plan().clients());
        this.held = new long[simulation.plan().keys()];
    }

    /** Before anything goes wrong. */
    void fill(RowanClient client) {
        ballast.fill(client, simulation.plan().ballastPercent());
    }

    /** Reads every key and judges its history since the last time; then compares the replicas. */
    void judgeWindow() {
        for (int key = 0; key < held.length; key++) {
            final Event read = read(key);
            simulation.lifetimes().addTo(expiries, key, held[key]);
            for (Anomaly anomaly : history.judge(key, read, checker)) {
                simulation.violation(anomaly.toString());
            }
            simulation.services().read(key, read);
            held[key] = read.outcome() == Outcome.DONE ? read.observed() : Event.ABSENT;
        }
        simulation.services().afterReads();
        ballast.judge();
        history.clear();
        simulation.happenings().count("windows judged");
        final EmbeddedCluster cluster = simulation.store().cluster();
        cluster.awaitDigested(); // a read may have logged an expiry
        states.requireAgreement(cluster.configuration(), cluster.servers());
        states.requireCounts(
                cluster.servers(),
                cluster.configuration().shardCount(),
                simulation.store().cacheId());
        states.requireSegments(cluster.servers());
    }

    private Event read(int key) {
        final byte[] bytes = SimClient.keyBytes(key);
        final Request request = new Request().get(simulation.store().cacheId(), bytes, 0, bytes.length);
        simulation.store().place(request);
        simulation.timeline().advance(1);
        final long invokedNs = simulation.timeline().nowNs();
        simulation.session().call(request);
        simulation.timeline().advance(1);
        if (request.status() != Status.OK && request.status() != Status.NOT_FOUND) {
            simulation.violation("a read of key " + key + " at rest was answered " + request.status());
        }
        final boolean found = request.status() == Status.OK;
        final long observed = found ? values.idIn(request.result(), request.resultLength()) : Event.NOT_ASKED;
        simulation.trace().mix(observed);
        return new Event(
                -1,
                Action.GET,
                Event.ABSENT,
                0,
                found ? Outcome.DONE : Outcome.NOT_FOUND,
                found ? request.version() : 0,
                0,
                observed,
                invokedNs,
                simulation.timeline().nowNs());
    }

    /** Closes every session; then what is taken must be what lives. */
    void judgeSpace() {
        final EmbeddedCluster cluster = simulation.store().cluster();
        for (int shard = 0; shard < cluster.configuration().shardCount(); shard++) {
            for (long sessionId : simulation.store().serverOf(shard).openSessions(shard)) {
                simulation.session().call(new Request().closeSession(shard, sessionId));
            }
        }
        cluster.releaseGrants();
        String difference = "";
        for (int i = 0; i < TURNS_TO_SETTLE; i++) {
            cluster.awaitDigested();
            difference = states.spaceDifference(cluster.servers());
            if (difference.isEmpty()) {
                return;
            }
            simulation.turns().park(1_000_000);
        }
        simulation.violation("space is not accounted for: " + difference);
    }
}
