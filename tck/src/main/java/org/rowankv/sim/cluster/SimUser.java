package org.rowankv.sim.cluster;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.Action;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.Outcome;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.session.SteppedRequest;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.SimValues;

/** A user of the driver's own code: asks random things of random keys, one at a time, and writes down what it is told. */
final class SimUser extends Turned {
    /** Ids of different users' values never meet. */
    private static final int CALLER_SHIFT = 40;

    private static final Action[] MIX = {
        Action.GET,
        Action.GET,
        Action.GET,
        Action.GET,
        Action.PUT,
        Action.PUT,
        Action.PUT,
        Action.PUT,
        Action.PUT,
        Action.GET_AND_PUT,
        Action.GET_AND_PUT,
        Action.PUT_IF_ABSENT,
        Action.REPLACE_IF_VERSION,
        Action.REPLACE_IF_VERSION,
        Action.REMOVE,
        Action.REMOVE,
        Action.GET_AND_REMOVE,
        Action.REMOVE_IF_VERSION
    };

    private final int number;
    private final ClusterSimulation simulation;
    private final SimValues values;
    private final CallerLog log;
    private final RandomSource random;
    private final SimRouting routing;
    private final RowanClient client;
    private final long[] lastVersion;
    private final Request request = new Request();
    private long valueCount;
    private long nextAtNs;
    /** Nobody wants to be asked anything. */
    private boolean parked;

    // --- the operation under way ---
    private @Nullable SteppedRequest stepped;
    private Action action = Action.GET;
    private int key;
    private long written;
    private boolean wantsOld;
    private long invokedNs;

    SimUser(
            int number,
            ClusterSimulation simulation,
            SimValues values,
            CallerLog log,
            RandomSource random,
            SimRouting routing) {
        super(null);
        this.number = number;
        this.simulation = simulation;
        this.values = values;
        this.log = log;
        this.random = random;
        this.lastVersion = new long[simulation.plan().keys()];
        this.client = new RowanClient(routing, simulation.userClock(), random.fork("client"), 20 * routing.attemptNs());
        this.routing = routing;
        routing.serve(this);
        simulation.turns().add(this);
    }

    static byte[] keyBytes(int key) {
        return ("key " + key).getBytes(StandardCharsets.UTF_8);
    }

    boolean isIdle() {
        return stepped == null;
    }

    /** Questions are welcome again. */
    void goOn() {
        parked = false;
        simulation.turns().changed(this);
    }

    @Override
    long readyAtNs() {
        return stepped != null ? routing.readyAtNs() : parked ? NEVER : nextAtNs;
    }

    @Override
    void step() {
        final SteppedRequest own = stepped;
        if (own == null) {
            if (simulation.isAccepting()) {
                ask();
            } else {
                parked = true;
            }
            return;
        }
        if (!routing.advance()) {
            return;
        }
        final Request next = own.answered();
        if (next != null) {
            routing.begin(next);
            return;
        }
        stepped = null;
        nextAtNs = simulation.timeline().nowNs()
                + random.nextInt(100_000 + (int) (20 * simulation.plan().stepNs()));
        end();
    }

    private void ask() {
        key = random.nextInt(simulation.plan().keys());
        action = MIX[random.nextInt(MIX.length)];
        written = action.stores() ? ((number + 1L) << CALLER_SHIFT) + ++valueCount : Event.ABSENT;
        wantsOld = action == Action.GET
                || action == Action.GET_AND_PUT
                || action == Action.GET_AND_REMOVE
                || random.nextInt(8) == 0;
        phrase().wantValue(wantsOld);
        invokedNs = simulation.timeline().nowNs();
        simulation.onBegun();
        final SteppedRequest begun = client.stepped(request);
        stepped = begun;
        routing.begin(begun.first());
    }

    private Request phrase() {
        final int cacheId = simulation.cacheId();
        final byte[] bytes = keyBytes(key);
        final byte[] value = action.stores() ? values.of(written) : bytes;
        return switch (action) {
            case PUT, GET_AND_PUT -> request.put(cacheId, bytes, 0, bytes.length, value, 0, value.length);
            case PUT_IF_ABSENT ->
                request.put(cacheId, bytes, 0, bytes.length, value, 0, value.length)
                        .when(Condition.IF_ABSENT);
            case REPLACE_IF_VERSION ->
                request.put(cacheId, bytes, 0, bytes.length, value, 0, value.length)
                        .when(Condition.IF_VERSION, lastVersion[key]);
            case REMOVE, GET_AND_REMOVE -> request.delete(cacheId, bytes, 0, bytes.length);
            case REMOVE_IF_VERSION ->
                request.delete(cacheId, bytes, 0, bytes.length).when(Condition.IF_VERSION, lastVersion[key]);
            default -> request.get(cacheId, bytes, 0, bytes.length);
        };
    }

    private void end() {
        final long returnedNs = simulation.timeline().nowNs();
        final Status status = request.status();
        simulation.onEnded(status, request.version());
        final Outcome outcome = outcomeOf(status);
        if (action == Action.GET && (outcome == Outcome.REFUSED || outcome == Outcome.UNKNOWN)) {
            return; // learned nothing
        }
        if (status == Status.OK || status == Status.CONDITION_FAILED) {
            lastVersion[key] = request.version();
        }
        final Event event = new Event(
                number,
                action,
                written,
                action.expectsVersion() ? request.expectedVersion() : 0,
                outcome,
                outcome == Outcome.NOT_FOUND ? 0 : request.version(),
                request.previousVersion(),
                observed(outcome),
                invokedNs,
                returnedNs);
        if (simulation.trace().isRead()) {
            simulation
                    .trace()
                    .tell("user " + number + " key " + key + " " + action.label() + " #" + Long.toHexString(written)
                            + ": " + status + " " + event);
        }
        if (outcome == Outcome.DONE && action.makesVersion()) {
            simulation.versionGiven(request.shard(), event.version());
        }
        log.add(key, event);
    }

    private long observed(Outcome outcome) {
        if (!wantsOld || outcome != Outcome.DONE && outcome != Outcome.CONDITION_FAILED) {
            return Event.NOT_ASKED;
        }
        if (request.hasResult() && request.has(ResultBits.EXISTED)) {
            return values.idIn(request.result(), request.resultLength());
        }
        return outcome == Outcome.DONE ? Event.ABSENT : Event.NOT_ASKED;
    }

    private Outcome outcomeOf(Status status) {
        return switch (status) {
            case OK -> Outcome.DONE;
            case NOT_FOUND -> Outcome.NOT_FOUND;
            case CONDITION_FAILED -> Outcome.CONDITION_FAILED;
            case OUTCOME_UNKNOWN -> Outcome.UNKNOWN;
            // NO_REPLY is the answer of a read; UNREACHABLE also when not even the session could be opened.
            case FULL, TOO_LARGE, UNREACHABLE, NO_REPLY, NO_VERSION, SESSION_EXPIRED -> Outcome.REFUSED;
            default -> {
                simulation.violation("user " + number + " got the answer " + status + ", which nobody should see");
                yield Outcome.REFUSED;
            }
        };
    }
}
