package org.rowankv.sim;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.session.SteppedRequest;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.workload.WorkloadClient;

/** A client of the driver's own code: asks random things of random keys, one at a time, and writes down what it is told. */
final class SimClient extends Task {
    private static final int MOST_DOUBLINGS = 4;

    private final int number;
    private final Simulation simulation;
    private final SimPlan plan;
    private final RandomSource random;
    private final long timeoutNs;
    private final WorkloadClient asks;

    private RowanClient client;
    private int clientsBefore;

    // --- the operation under way ---
    private @Nullable SteppedRequest stepped;
    private @Nullable Request sent;
    private @Nullable Request received;
    private int attempt;
    private int repetitions;
    private long timeoutAtNs;
    private long nextAtNs;
    private boolean leaving;

    SimClient(int number, Simulation simulation, RandomSource random) {
        this.number = number;
        this.simulation = simulation;
        this.plan = simulation.plan();
        this.random = random;
        this.timeoutNs = 3_000_000 + 300 * plan.stepNs();
        this.asks = simulation.workload().client(number, random.fork("questions"), simulation.mood());
        this.client = newClient();
    }

    private RowanClient newClient() {
        return new RowanClient(
                simulation.session(),
                simulation.store().clientClock(),
                random.fork("client " + clientsBefore++),
                20 * timeoutNs);
    }

    int number() {
        return number;
    }

    boolean isIdle() {
        return stepped == null;
    }

    /** Goes away, and comes back as another. Idle. */
    void leave() {
        leaving = true;
        try {
            client.close();
        } finally {
            leaving = false;
        }
        client = newClient();
    }

    @Override
    long readyAtNs() {
        if (stepped == null) {
            return simulation.isAccepting() && !leaving && simulation.mood().lets(number) ? nextAtNs : NEVER;
        }
        return received != null ? 0 : timeoutAtNs;
    }

    @Override
    boolean isCaller() {
        return false; // what can die is the thread that carries an attempt
    }

    @Override
    void step() {
        final SteppedRequest own = stepped;
        final Request asked = sent;
        if (own == null || asked == null) {
            begin();
            return;
        }
        final Request answer = received;
        received = null;
        if (answer != null) {
            SimNetwork.copyAnswer(answer, asked);
        } else {
            simulation.happenings().count("attempts given up");
            asked.clearAnswer();
            asked.answer(Status.NO_REPLY, 0, 0, 0);
        }
        final Request next = own.answered();
        if (next == null) {
            stepped = null;
            sent = null;
            end();
        } else {
            send(next);
        }
    }

    /** The answer of an attempt; too late, it is not heard. */
    void receive(int answeredAttempt, Request answer) {
        if (stepped != null && answeredAttempt == attempt) {
            received = answer;
        }
    }

    /** The run ends before the operation does: it may take effect, or not. */
    void giveUp() {
        if (stepped != null && action != Action.GET && action != Action.CLEAR) {
            log.add(
                    key,
                    new Event(
                            number,
                            action,
                            written,
                            action.expectsVersion() ? request.expectedVersion() : 0,
                            Outcome.UNKNOWN,
                            0,
                            0,
                            Event.NOT_ASKED,
                            invokedNs,
                            simulation.timeline().nowNs()));
        }
    }

    /** Whether it is at a clear, which concerns all keys of a shard. */
    boolean isClearing() {
        return stepped != null && action == Action.CLEAR;
    }

    private void send(Request next) {
        // Who repeats waits longer each time: else attempts pile up at a server that stands still.
        repetitions = next == sent ? Math.min(MOST_DOUBLINGS, repetitions + 1) : 0;
        sent = next;
        attempt++;
        asks.sends(next);
        timeoutAtNs = simulation.timeline().nowNs() + (timeoutNs / 2 + random.nextInt((int) timeoutNs) << repetitions);
        simulation.network().send(this, attempt, next);
    }

    private void begin() {
        final Request request = asks.begin();
        simulation.onBegun();
        final SteppedRequest begun = client.stepped(request);
        stepped = begun;
        send(begun.first());
    }

    private void end() {
<<<<<<< Updated upstream
        nextAtNs = simulation.timeline().nowNs() + random.nextInt((int) (8 * plan.stepNs()));
        simulation.onEnded(this, asks.request().status(), asks.request().version());
        asks.end();
=======
        final long returnedNs = simulation.timeline().nowNs();
        nextAtNs = returnedNs + random.nextInt((int) (8 * plan.stepNs()));
        final Status status = request.status();
        simulation.onEnded(this, action.label(), status, request.version());
        final Outcome outcome = outcomeOf(status);
        if (action == Action.GET && outcome == Outcome.REFUSED) {
            return; // learned nothing
        }
        if (action != Action.TOUCH && (status == Status.OK || status == Status.CONDITION_FAILED)) {
            lastVersion[key] = request.version();
            lastValue[key] = action.stores() && status == Status.OK
                    ? written
                    : action == Action.GET || status == Status.CONDITION_FAILED ? observed(outcome) : Event.ABSENT;
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
                    .tell(this + " key " + key + " " + action.label() + " #" + Long.toHexString(written) + ": " + status
                            + " " + event);
        }
        if (outcome == Outcome.DONE) {
            judgeAnswer(event);
        }
        if (action == Action.CLEAR) {
            for (int cleared = 0; cleared < plan.keys(); cleared++) {
                if (simulation.store().shardOf(cleared) == request.shard()) {
                    log.add(cleared, event);
                }
            }
        } else {
            log.add(key, event);
        }
    }

    private void judgeAnswer(Event event) {
        if (ttlMs != Ttl.ETERNAL && action.stores()) {
            simulation.lifetimes().stored(written, invokedNs, event.returnedNs(), ttlMs);
        }
        if (action == Action.GET && !plan.touches() && simulation.lifetimes().isOver(event.observed(), invokedNs)) {
            simulation.violation("value #" + Long.toHexString(event.observed()) + " of key " + key
                    + " was read after its lifetime was over on every clock");
        }
        if (action.makesVersion()) {
            simulation.versions().given(request.shard(), event.version(), number, invokedNs);
        }
        final boolean existed = request.previousVersion() != 0;
        if (action.stores()
                && (request.has(ResultBits.EXISTED) != existed
                        || request.has(ResultBits.UPDATED) != existed
                        || request.has(ResultBits.CREATED) == existed)) {
            simulation.violation(action.label() + " answered the bits " + Integer.toBinaryString(request.bits())
                    + ", which do not agree with the previous version " + request.previousVersion());
        }
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
            // NO_REPLY is the answer of a read; UNREACHABLE when not even the session could be opened.
            case CORRUPTED -> {
                simulation.victim().requireRotten(this + " finds key " + key + " damaged");
                yield Outcome.REFUSED;
            }
            case FULL, TOO_LARGE, CLOSED, UNREACHABLE, NO_REPLY, NO_VERSION, SESSION_EXPIRED -> Outcome.REFUSED;
            default -> throw new ViolationError(this + " got the answer " + status + ", which nobody should see");
        };
>>>>>>> Stashed changes
    }

    @Override
    public String toString() {
        return "client " + number;
    }
}
