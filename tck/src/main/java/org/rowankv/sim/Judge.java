package org.rowankv.sim;

<<<<<<< Updated upstream
=======
import java.util.ArrayList;
import java.util.List;
import org.rowankv.check.history.Action;
import org.rowankv.check.history.Anomaly;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.HistoryRecorder;
import org.rowankv.check.history.KeyHistoryChecker;
import org.rowankv.check.history.Outcome;
>>>>>>> Stashed changes
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.sim.workload.SimValues;
import org.rowankv.sim.workload.WindowJudge;

/** Looks at a store that rests: what every key holds, how that came about, and the servers' own state. */
final class Judge {
    private static final int TURNS_TO_SETTLE = 400;

    private final Simulation simulation;
    private final WindowJudge window;
    private final StateJudge states;
    private final Ballast ballast;
<<<<<<< Updated upstream
=======
    private final DamageJudge damage;
    private final KeyHistoryChecker checker = new KeyHistoryChecker();
    private final CallerLog expiries;
    private final long[] held;
>>>>>>> Stashed changes

    Judge(Simulation simulation, SimValues values) {
        this.simulation = simulation;
        this.window = simulation.workload().windowJudge();
        this.states = new StateJudge(simulation::violation);
<<<<<<< Updated upstream
        this.ballast = new Ballast(simulation, values);
=======
        this.damage = new DamageJudge(simulation);
        this.ballast = new Ballast(simulation, values, damage);
        this.expiries = history.log(simulation.plan().clients());
        this.held = new long[simulation.plan().keys()];
>>>>>>> Stashed changes
    }

    /** Before anything goes wrong. */
    void fill(RowanClient client) {
        ballast.fill(client, simulation.plan().ballastPercent());
    }

    /** Reads every key and judges its history since the last time; then compares the replicas. */
    void judgeWindow() {
<<<<<<< Updated upstream
        final EmbeddedCluster cluster = simulation.store().cluster();
        awaitLimits(cluster);
        window.judge(
                request -> {
                    simulation.store().place(request);
                    simulation.session().call(request);
                },
                simulation.services()::read);
        simulation.services().afterReads();
        ballast.judge();
=======
        final List<Event> reads = new ArrayList<>();
        for (int key = 0; key < held.length; key++) {
            reads.add(read(key));
        }
        ballast.judge();
        for (int key = 0; key < held.length; key++) {
            final Event read = reads.get(key);
            simulation.lifetimes().addTo(expiries, key, held[key]);
            for (Anomaly anomaly : history.judge(key, read, checker)) {
                judge(read, anomaly.toString());
            }
            simulation.services().read(key, read);
            held[key] = read.outcome() == Outcome.DONE ? read.observed() : Event.ABSENT;
        }
        simulation.services().afterReads();
        history.clear();
        simulation.happenings().count("windows judged");
        final EmbeddedCluster cluster = simulation.store().cluster();
>>>>>>> Stashed changes
        cluster.awaitDigested(); // a read may have logged an expiry
        damage.awaitMended();
        states.requireAgreement(cluster.configuration(), cluster.servers());
<<<<<<< Updated upstream
        states.requireCounts(cluster.servers(), cluster.configuration().shardCount());
        states.requireEvictions(
                cluster.servers(), simulation.workload().caches().lives());
        states.requireSegments(cluster.servers());
    }

    /** Nobody writes: what is above its limit is evicted. */
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
            simulation.turns().park(1_000_000);
        }
        simulation.violation("limits are not kept: " + above);
=======
        states.requireCounts(
                damage.whole(cluster.servers()),
                cluster.configuration().shardCount(),
                simulation.store().cacheId());
        states.requireSegments(cluster.servers());
    }

    /** A device has lied: judges every key's history by what honest devices have. Nothing follows. */
    void judgeHonest() {
        for (int key = 0; key < held.length; key++) {
            final Request request = request(key);
            simulation.timeline().advance(1);
            final long invokedNs = simulation.timeline().nowNs();
            damage.answerElsewhere(request);
            final Event read = event(request, invokedNs);
            simulation.lifetimes().addTo(expiries, key, held[key]);
            for (Anomaly anomaly : history.judge(key, read, checker)) {
                simulation.violation("on honest devices: " + anomaly);
            }
        }
        simulation.happenings().count("windows judged by honest devices");
    }

    private Request request(int key) {
        final byte[] bytes = SimClient.keyBytes(key);
        final Request request = new Request().get(simulation.store().cacheId(), bytes, 0, bytes.length);
        simulation.store().place(request);
        return request;
    }

    private void judge(Event read, String anomaly) {
        if (read.observed() == Event.TORN) {
            simulation.violation(anomaly); // whatever is lost, nothing wrong is read
        }
        simulation.loss(anomaly);
    }

    private Event read(int key) {
        final Request request = request(key);
        simulation.timeline().advance(1);
        final long invokedNs = simulation.timeline().nowNs();
        simulation.session().call(request);
        if (request.status() == Status.CORRUPTED) {
            damage.mend(request, key);
        }
        simulation.timeline().advance(1);
        if (request.status() != Status.OK && request.status() != Status.NOT_FOUND) {
            simulation.violation("a read of key " + key + " at rest was answered " + request.status());
        }
        return event(request, invokedNs);
    }

    private Event event(Request request, long invokedNs) {
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
>>>>>>> Stashed changes
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
            difference = states.spaceDifference(damage.whole(cluster.servers()));
            if (difference.isEmpty()) {
                return;
            }
            simulation.turns().park(1_000_000);
        }
        simulation.violation("space is not accounted for: " + difference);
    }
}
