package org.rowankv.sim;

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
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.RandomSource;

/** A client of the driver's own code: asks random things of random keys, one at a time, and writes down what it is told. */
final class SimClient extends Task {
    /** Ids of different clients' values never meet. */
    private static final int CALLER_SHIFT = 40;

    private static final int MOST_DOUBLINGS = 4;
    private static final int TRIES_FOR_LARGE = 100;

    private static final Action[] MIX = {
        Action.GET,
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
        Action.PUT_IF_ABSENT,
        Action.REPLACE_IF_VERSION,
        Action.REPLACE_IF_VERSION,
        Action.REPLACE_IF_VERSION,
        Action.REMOVE,
        Action.REMOVE,
        Action.GET_AND_REMOVE,
        Action.REMOVE_IF_VERSION,
        Action.TOUCH
    };

    private final int number;
    private final Simulation simulation;
    private final SimPlan plan;
    private final SimValues values;
    private final CallerLog log;
    private final RandomSource random;
    private final long timeoutNs;
    private final long[] lastVersion;
    /** The value of that version, where it is known. */
    private final long[] lastValue;

    private final Request request = new Request();
    private RowanClient client;
    private int clientsBefore;
    private long valueCount;

    // --- the operation under way ---
    private Action action = Action.GET;
    private int key;
    private long written;
    private boolean wantsOld;
    private long ttlMs;
    private long invokedNs;
    private @Nullable SteppedRequest stepped;
    private @Nullable Request sent;
    private @Nullable Request received;
    private int attempt;
    private int repetitions;
    private long timeoutAtNs;
    private long nextAtNs;
    private boolean leaving;

    SimClient(int number, Simulation simulation, SimValues values, CallerLog log, RandomSource random) {
        this.number = number;
        this.simulation = simulation;
        this.plan = simulation.plan();
        this.values = values;
        this.log = log;
        this.random = random;
        this.timeoutNs = 3_000_000 + 300 * plan.stepNs();
        this.lastVersion = new long[plan.keys()];
        this.lastValue = new long[plan.keys()];
        this.client = newClient();
    }

    private RowanClient newClient() {
        return new RowanClient(
                simulation.session(),
                simulation.store().clientClock(),
                random.fork("client " + clientsBefore++),
                20 * timeoutNs);
    }

    static byte[] keyBytes(int key) {
        return ("key " + key).getBytes(StandardCharsets.UTF_8);
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

    private void send(Request next) {
        // Who repeats waits longer each time: else attempts pile up at a server that stands still.
        repetitions = next == sent ? Math.min(MOST_DOUBLINGS, repetitions + 1) : 0;
        sent = next;
        attempt++;
        timeoutAtNs = simulation.timeline().nowNs() + (timeoutNs / 2 + random.nextInt((int) timeoutNs) << repetitions);
        simulation.network().send(this, attempt, next);
    }

    private void begin() {
        key = random.nextInt(plan.keys());
        action = random.nextInt(plan.clearOneIn()) == 0 ? Action.CLEAR : MIX[random.nextInt(MIX.length)];
        final Mood mood = simulation.mood();
        if (!mood.isUsual()) {
            key = mood.key(key);
            action = mood.action(action);
        }
        if (action == Action.TOUCH && (!plan.touches() || lastValue[key] <= Event.ABSENT)) {
            action = Action.GET;
        }
        written = action.stores() ? nextValue(mood.wantsLarge()) : Event.ABSENT;
        wantsOld = action == Action.GET
                || action == Action.GET_AND_PUT
                || action == Action.GET_AND_REMOVE
                || random.nextInt(8) == 0 && action != Action.CLEAR && action != Action.TOUCH;
        ttlMs = action == Action.TOUCH
                        || action.stores() && random.nextInt(1000) < plan.ttlPerMille() && !mood.wantsLarge()
                ? lifetime()
                : Ttl.ETERNAL;
        phrase().wantValue(wantsOld);
        if (action.stores()) {
            request.ttl(ttlMs, ttlMs);
        }
        invokedNs = simulation.timeline().nowNs();
        if (ttlMs != Ttl.ETERNAL) {
            final long mortal = action == Action.TOUCH ? lastValue[key] : written;
            simulation.lifetimes().begun(key, mortal, invokedNs, ttlMs);
        }
        if (action.stores() && !plan.limit().isNone()) {
            simulation.lifetimes().evictable(key, written, invokedNs);
        }
        simulation.onBegun();
        final SteppedRequest begun = client.stepped(request);
        stepped = begun;
        send(begun.first());
    }

    private long nextValue(boolean large) {
        long value = valueAt(++valueCount);
        for (int i = 0; large && i < TRIES_FOR_LARGE && !values.isLarge(value); i++) {
            value = valueAt(++valueCount);
        }
        return value;
    }

    private long valueAt(long count) {
        return ((number + 1L) << CALLER_SHIFT) + count;
    }

    private long lifetime() {
        return 1L + random.nextInt(1 + (int) (plan.stepNs() / 50));
    }

    private Request phrase() {
        final int cacheId = simulation.store().cacheId();
        final byte[] bytes = keyBytes(key);
        final byte[] value = action.stores() ? values.of(written) : bytes;
        final long expected = lastVersion[key];
        return switch (action) {
            case GET -> request.get(cacheId, bytes, 0, bytes.length);
            case PUT, GET_AND_PUT -> request.put(cacheId, bytes, 0, bytes.length, value, 0, value.length);
            case PUT_IF_ABSENT ->
                request.put(cacheId, bytes, 0, bytes.length, value, 0, value.length)
                        .when(Condition.IF_ABSENT);
            case REPLACE_IF_VERSION ->
                request.put(cacheId, bytes, 0, bytes.length, value, 0, value.length)
                        .when(Condition.IF_VERSION, expected);
            case REMOVE, GET_AND_REMOVE -> request.delete(cacheId, bytes, 0, bytes.length);
            case REMOVE_IF_VERSION ->
                request.delete(cacheId, bytes, 0, bytes.length).when(Condition.IF_VERSION, expected);
            case CLEAR -> request.clear(cacheId, simulation.store().shardOf(key));
            case TOUCH -> request.touch(cacheId, bytes, 0, bytes.length, expected, ttlMs);
            case EXPIRY -> throw new AssertionError("nobody asks for that");
        };
    }

    private void end() {
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
            case FULL, TOO_LARGE, CLOSED, UNREACHABLE, NO_REPLY, NO_VERSION, SESSION_EXPIRED -> Outcome.REFUSED;
            default -> throw new ViolationError(this + " got the answer " + status + ", which nobody should see");
        };
    }

    @Override
    public String toString() {
        return "client " + number;
    }
}
