package org.rowankv.check.verify;

import java.nio.charset.StandardCharsets;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.KeyAction;
import org.rowankv.check.history.Outcome;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.RandomSource;

/** A caller that performs random operations on random keys and records the replies. Owned by its thread. */
final class Caller {
    /** Gives the values of different callers disjoint ids. */
    private static final int CALLER_SHIFT = 40;

    private static final int BALLAST_ONE_IN = 12;

    private static final KeyAction[] MIX = {
        KeyAction.GET,
        KeyAction.GET,
        KeyAction.GET,
        KeyAction.GET,
        KeyAction.GET,
        KeyAction.GET,
        KeyAction.PUT,
        KeyAction.PUT,
        KeyAction.PUT,
        KeyAction.GET_AND_PUT,
        KeyAction.GET_AND_PUT,
        KeyAction.PUT_IF_ABSENT,
        KeyAction.PUT_IF_ABSENT,
        KeyAction.REPLACE_IF_VERSION,
        KeyAction.REPLACE_IF_VERSION,
        KeyAction.REPLACE_IF_VERSION,
        KeyAction.REMOVE,
        KeyAction.GET_AND_REMOVE,
        KeyAction.REMOVE_IF_VERSION
    };

    private final int number;
    private final RowanClient client;
    private final int cacheId;
    private final byte[][] keys;
    private final long[] lastVersion;
    private final CallerLog log;
    private final Clock clock;
    private final RandomSource random;
    private final Tally tally;
    private final CallerBallast ballast;
    private final Request request = new Request();
    private long values;

    Caller(
            int number,
            RowanClient client,
            int cacheId,
            int keyCount,
            CallerLog log,
            Clock clock,
            RandomSource random,
            Tally tally) {
        this.number = number;
        this.client = client;
        this.cacheId = cacheId;
        this.keys = keys(keyCount);
        this.lastVersion = new long[keyCount];
        this.log = log;
        this.clock = clock;
        this.random = random;
        this.tally = tally;
        this.ballast = new CallerBallast(number, client, cacheId, firstValue(number));
    }

    private static long firstValue(int caller) {
        return (caller + 1L) << CALLER_SHIFT;
    }

    CallerBallast ballast() {
        return ballast;
    }

    static byte[][] keys(int count) {
        final byte[][] keys = new byte[count][];
        for (int i = 0; i < count; i++) {
            keys[i] = ("key " + i).getBytes(StandardCharsets.UTF_8);
        }
        return keys;
    }

    void askOnce() {
        if (random.nextInt(BALLAST_ONE_IN) == 0) {
            ballast.putNext();
        }
        final int key = random.nextInt(keys.length);
        ask(key, MIX[random.nextInt(MIX.length)]);
    }

    private void ask(int key, KeyAction action) {
        final long written = action.stores() ? firstValue(number) + ++values : Event.ABSENT;
        final boolean needsOld = action == KeyAction.GET
                || action == KeyAction.GET_AND_PUT
                || action == KeyAction.GET_AND_REMOVE
                || random.nextInt(8) == 0;
        final long expected = action.expectsVersion() ? lastVersion[key] : 0;
        phrase(action, keys[key], written, expected).requestValue(needsOld);
        final long invokedNs = clock.nanoTime();
        client.execute(request);
        final long returnedNs = clock.nanoTime();
        final Outcome outcome = outcome(request.status());
        note(key, action);
        final Event event =
                eventOf(number, action, written, expected, outcome, request, needsOld, invokedNs, returnedNs);
        if (!(action == KeyAction.GET && (outcome == Outcome.UNKNOWN || outcome == Outcome.REFUSED))) {
            log.add(key, event);
        }
    }

    private Request phrase(KeyAction action, byte[] key, long written, long expected) {
        final byte[] value = action.stores() ? StampedValue.of(written) : key;
        return switch (action) {
            case GET -> request.get(cacheId, key, 0, key.length);
            case PUT, GET_AND_PUT -> request.put(cacheId, key, 0, key.length, value, 0, value.length);
            case PUT_IF_ABSENT ->
                request.put(cacheId, key, 0, key.length, value, 0, value.length).when(Condition.IF_ABSENT);
            case REPLACE_IF_VERSION ->
                request.put(cacheId, key, 0, key.length, value, 0, value.length).when(Condition.IF_VERSION, expected);
            case REMOVE, GET_AND_REMOVE -> request.delete(cacheId, key, 0, key.length);
            case REMOVE_IF_VERSION ->
                request.delete(cacheId, key, 0, key.length).when(Condition.IF_VERSION, expected);
            case PUT_IF_ABSENT_SINCE, REPLACE, CLEAR, DESTROY, TOUCH, EXPIRY ->
                throw new AssertionError(action + " is not in the mix");
        };
    }

    private void note(int key, KeyAction action) {
        final Status status = request.status();
        tally.count("operation." + action.label() + " " + status);
        if (request.has(ResultBits.REPLAYED)) {
            tally.count("disturbance.answers replayed");
        }
        if (status == Status.OUTCOME_UNKNOWN) {
            tally.count("disturbance.outcomes unknown");
        }
        if (status == Status.OK || status == Status.CONDITION_FAILED) {
            lastVersion[key] = request.version();
        }
        if (status == Status.OK && !bitsAgree(action)) {
            tally.count("failure." + action.label() + ": result bits " + Integer.toBinaryString(request.bits())
                    + " do not agree with the previous version " + request.previousVersion());
        }
    }

    private boolean bitsAgree(KeyAction action) {
        final boolean existed = request.previousVersion() != 0;
        if (action.stores()) {
            return request.has(ResultBits.EXISTED) == existed
                    && request.has(ResultBits.UPDATED) == existed
                    && request.has(ResultBits.CREATED) != existed;
        }
        return !action.removes() || (request.has(ResultBits.REMOVED) && request.has(ResultBits.EXISTED));
    }

    static Outcome outcome(Status status) {
        return switch (status) {
            case OK -> Outcome.DONE;
            case NOT_FOUND -> Outcome.NOT_FOUND;
            case CONDITION_FAILED -> Outcome.CONDITION_FAILED;
            case OUTCOME_UNKNOWN -> Outcome.UNKNOWN;
            // A read may end with NO_REPLY; UNREACHABLE means that not even the session could be opened.
            case FULL, TOO_LARGE, CLOSED, UNREACHABLE, NO_REPLY, NO_VERSION -> Outcome.REFUSED;
            default -> throw new IllegalStateException("a reply that no caller should see: " + status);
        };
    }

    static Event eventOf(
            int number,
            KeyAction action,
            long written,
            long expected,
            Outcome outcome,
            Request answered,
            boolean needsOld,
            long invokedNs,
            long returnedNs) {
        final long observed;
        if (outcome == Outcome.DONE || outcome == Outcome.CONDITION_FAILED) {
            observed = !needsOld
                    ? Event.NOT_ASKED
                    : answered.hasResult()
                            ? StampedValue.idIn(answered.result(), answered.resultLength())
                            : outcome == Outcome.DONE ? Event.ABSENT : Event.NOT_ASKED;
        } else {
            observed = Event.NOT_ASKED;
        }
        return new Event(
                number,
                action,
                written,
                expected,
                outcome,
                outcome == Outcome.NOT_FOUND ? 0 : answered.version(),
                answered.previousVersion(),
                observed,
                invokedNs,
                returnedNs);
    }
}
