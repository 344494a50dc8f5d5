package org.rowankv.sim.service;

import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.KeyAction;
import org.rowankv.check.history.Outcome;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.embedded.EmbeddedCluster;

/**
 * A caller in the store's JVM that blocks in each call; other tasks run while it is parked. It checks that a call ends
 * by its deadline: each of its two waits, for a worker context and for the outcome, may take that long.
 */
public final class BlockingCaller implements Service {
    private static final long FIRST_VALUE = 1L << 48;
    private static final int WAITS = 2;
    /** Minimum number of parks in a wait, whatever the clock says. */
    private static final int LEAST_PAUSES = 2_000;
    /** In a million, of a server's clock. */
    private static final int DRIFT = 200;

    private final StoreScene scene;
    private final RandomSource random;
    private final CallerLog log;
    private final long deadlineNs;
    private final int paceNs;
    private @Nullable EmbeddedCluster incarnation;
    private long nextAtNs;
    private long values;

    // --- the call in progress ---
    private boolean calling;
    private long invokedNs;
    private int pauses;
    private String what = "";

    public BlockingCaller(StoreScene scene, RandomSource random, CallerLog log, long deadlineNs, long stepNs) {
        this.scene = scene;
        this.random = random;
        this.log = log;
        this.deadlineNs = deadlineNs;
        this.paceNs = (int) (stepNs * (1 << 6 + random.nextInt(5)));
    }

    @Override
    public boolean blocks() {
        return true;
    }

    @Override
    public boolean isCaller() {
        return true;
    }

    @Override
    public long readyAtNs() {
        return calling ? NEVER : nextAtNs;
    }

    @Override
    public void step() {
        nextAtNs = scene.nowNs() + random.nextInt(paceNs);
        if (!scene.isUp() || !scene.mayAsk()) {
            return;
        }
        final EmbeddedCluster now = scene.cluster();
        if (now != incarnation) {
            incarnation = now;
            // Not in the settings: waits for a digest, or for a close, keep their deadlines.
            now.servers().forEach(server -> server.deadline(deadlineNs));
        }
        final int key = random.nextInt(scene.keys());
        final byte[] bytes = scene.key(key);
        switch (random.nextInt(4)) {
            case 0 ->
                call(key, KeyAction.GET, Event.ABSENT, new Request().get(scene.cacheId(), bytes, 0, bytes.length));
            case 1 ->
                call(
                        key,
                        KeyAction.REMOVE,
                        Event.ABSENT,
                        new Request().delete(scene.cacheId(), bytes, 0, bytes.length));
            default -> {
                final long written = FIRST_VALUE + ++values;
                final byte[] value = scene.value(written);
                scene.begun(key, written);
                call(
                        key,
                        KeyAction.PUT,
                        written,
                        new Request().put(scene.cacheId(), bytes, 0, bytes.length, value, 0, value.length));
            }
        }
    }

    private void call(int key, KeyAction action, long written, Request request) {
        request.requestValue(true);
        calling = true;
        pauses = 0;
        invokedNs = scene.nowNs();
        what = action.label() + " of key " + key;
        Outcome outcome = Outcome.UNKNOWN; // an error ends the caller
        try {
            scene.call(request);
            outcome = outcomeOf(request.status());
            scene.count("calls that waited for their answers", 1);
            scene.count("blocking answer " + request.status(), 1);
        } catch (RowanException e) {
            outcome = e.status() == Status.OUTCOME_UNKNOWN ? Outcome.UNKNOWN : Outcome.REFUSED;
            scene.count("blocking answer " + e.status() + ", thrown", 1);
        } finally {
            calling = false;
            scene.count("pauses of waiting callers", pauses);
            if (action != KeyAction.GET || outcome == Outcome.DONE || outcome == Outcome.NOT_FOUND) {
                log.add(key, eventOf(action, written, outcome, request));
            }
            scene.mix(request.version() * 31 + outcome.ordinal());
        }
    }

    private Event eventOf(KeyAction action, long written, Outcome outcome, Request request) {
        return new Event(
                -4,
                action,
                written,
                0,
                outcome,
                outcome == Outcome.DONE ? request.version() : 0,
                outcome == Outcome.DONE ? request.previousVersion() : 0,
                outcome == Outcome.DONE ? observed(request) : Event.NOT_ASKED,
                invokedNs,
                scene.nowNs());
    }

    private long observed(Request request) {
        return request.hasResult() && request.has(ResultBits.EXISTED)
                ? scene.valueOf(request.result(), request.resultLength())
                : Event.ABSENT;
    }

    private Outcome outcomeOf(Status status) {
        switch (status) {
            case OK -> {
                return Outcome.DONE;
            }
            case NOT_FOUND -> {
                return Outcome.NOT_FOUND;
            }
            case FULL, TOO_LARGE, CLOSED -> {
                return Outcome.REFUSED;
            }
            case CORRUPTED -> {
                scene.requireDamage("a blocking caller finds a damaged object");
                return Outcome.REFUSED;
            }
            default -> {
                scene.violation("a blocking caller got the reply " + status);
                return Outcome.REFUSED;
            }
        }
    }

    /** The waiting caller has been parked once more. */
    @Override
    public void paused() {
        if (!calling || !scene.isUp()) {
            return;
        }
        pauses++;
        final long tookNs = scene.nowNs() - invokedNs;
        if (pauses > WAITS * LEAST_PAUSES && tookNs > WAITS * (deadlineNs + deadlineNs / 1_000_000 * DRIFT)) {
            scene.violation("the " + what + " of a blocking caller has not ended by its deadline: it has waited "
                    + tookNs + " ns, in " + pauses + " pauses");
        }
    }

    @Override
    public String toString() {
        return calling ? "the blocking caller in a " + what : "blocking caller";
    }
}
