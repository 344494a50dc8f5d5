package org.rowankv.server.frontend;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.server.catalogue.CatalogueThread;
import org.rowankv.server.dispatch.PollableCalls;

/**
 * The requests that an event loop has taken and not answered: turned in every turn of the loop until they are. What waits for
 * a lock, for space or for acknowledgements holds up nobody but those behind it that want a place in a worker context too.
 * Owned by the loop.
 */
final class RequestPipeline {
    private static final int MAX_KEPT = 1_024;

    private final ClientPort port;
    private final int loop;
    private final Clock clock;
    private final LoopCounters counts;
    private final LoopMemoryBudget memory;
    private final ArrayDeque<PendingRequest> kept = new ArrayDeque<>();
    private final List<PendingRequest> active = new ArrayList<>();
    /** Those that want a place in a worker context, in the order in which they came. */
    private final ArrayDeque<PendingRequest> waiting = new ArrayDeque<>();

    /** Those that came while the server had no roles, in that order. */
    private final ArrayDeque<PendingRequest> held = new ArrayDeque<>();

    /** Whose calls are {@link #calls}. */
    private RequestBackend served;

    private PollableCalls calls;
    private long answered;
    private long answeredBefore;
    /** When what is done in this turn began to come; meaningful while {@link #stamped}. */
    private long turnNs;

    private boolean stamped;

    /** @param loop its number */
    RequestPipeline(ClientPort port, int loop, Clock clock, LoopCounters counts, LoopMemoryBudget memory) {
        this.memory = memory;
        this.port = port;
        this.loop = loop;
        this.clock = clock;
        this.counts = counts;
        this.served = port.served();
        this.calls = served.calls(loop, port.settings().loops());
    }

    /** One step of each; true when any was answered since the turn before. */
    boolean turn() {
        final long before = answeredBefore;
        turnCalls();
        stepAll();
        turnCalls(); // what has gone on may have something to send
        answeredBefore = answered;
        return answered != before;
    }

    /** After a turn. */
    void endTurn(long nowNs) {
        if (stamped) {
            stamped = false;
            counts.endTurn(nowNs - turnNs);
        }
    }

    /** Whether any is under way. */
    boolean areUnderWay() {
        return !active.isEmpty() || !waiting.isEmpty();
    }

    /** Whether any waits for new roles of the server. */
    boolean areHeld() {
        return !held.isEmpty();
    }

    /** Nothing has happened for a while: helps those that requests may be waiting for. */
    void help() {
        guarded("helping those that clients' requests wait for", calls()::help);
    }

    /** The loop ends. What is still under way is finished by whoever borrows its place next, or when the server is closed. */
    void end() {
        active.forEach(this::leave);
        waiting.forEach(this::leave);
        held.forEach(this::forget);
        dropKept();
    }

    private void leave(PendingRequest unfinished) {
        abandon(unfinished);
        forget(unfinished);
        port.countUnfinished();
    }

    /** Contexts that are kept for requests to come are given up. */
    void dropKept() {
        kept.forEach(this::forget);
        kept.clear();
    }

    private void count(PendingRequest pending) {
        final int grown = pending.growth();
        if (grown != 0) {
            memory.changed(grown);
        }
    }

    /** It is not used again: what its arrays were charged is given back. */
    void forget(PendingRequest pending) {
        memory.changed(-pending.forgotten());
    }

    private PollableCalls calls() {
        final RequestBackend now = port.served();
        if (now != served) {
            served = now;
            calls = now.calls(loop, port.settings().loops());
        }
        return calls;
    }

    PendingRequest takePending() {
        final PendingRequest free = kept.pollLast();
        return free == null ? new PendingRequest(calls()) : free;
    }

    /** When requests of this turn have come: one look at the clock for all of them. */
    long turnNs() {
        if (!stamped) {
            stamped = true;
            turnNs = clock.nanoTime();
        }
        return turnNs;
    }

    /** A request was read. */
    void came(PendingRequest pending) {
        count(pending);
    }

    /** A request that makes sense: is begun, refused, or waits until the server has roles. */
    void admit(PendingRequest pending) {
        if (port.isPaused()) {
            hold(pending);
            return;
        }
        final Status refused = port.whyNotServed(pending.shard(), pending.clientTerm());
        if (refused != Status.OK) {
            refuse(pending, refused);
        } else if (port.catalogue().isKnown(pending.request().cacheId())) {
            pending.begin(calls());
            begin(pending);
        } else {
            awaitCatalogue(pending);
        }
    }

    /** Of a cache that was created through another server, or of none. */
    private void awaitCatalogue(PendingRequest pending) {
        final ClientConnection connection = pending.connection();
        if (connection == null) {
            return;
        }
        final ClientEventLoop own = connection.loop();
        port.catalogue().find(reading -> own.execute(() -> onCatalogue(pending, reading)));
    }

    private void onCatalogue(PendingRequest pending, CatalogueThread.Reading reading) {
        try {
            final ClientConnection connection = pending.connection();
            final Status found = reading.of(pending.request().cacheId());
            if (connection == null || connection.isClosed()) {
                drop(pending);
            } else if (found == Status.OK || port.isPaused()) {
                admit(pending);
            } else {
                refuse(pending, found);
            }
        } catch (RuntimeException | Error e) {
            giveUp(pending, e);
        }
    }

    void refuse(PendingRequest pending, Status why) {
        pending.request().noResult();
        pending.request().answer(why, 0, 0, 0);
        answered(pending);
    }

    private void hold(PendingRequest pending) {
        pending.hold(clock.nanoTime());
        counts.waited();
        held.addLast(pending);
    }

    private void begin(PendingRequest pending) {
        if (!waiting.isEmpty() && pending.request().operation().isMutation()) {
            waiting.add(pending); // behind those that came before
        } else if (pending.call().step()) {
            answered(pending);
        } else {
            (pending.call().awaitsWorker() ? waiting : active).add(pending);
        }
    }

    void answered(PendingRequest pending) {
        final ClientConnection connection = pending.connection();
        answered++;
        counts.answered(pending.request());
        if (stamped && pending.beganNs() == turnNs) {
            counts.answeredInTurn(pending.request().operation());
        } else {
            counts.answeredLater(pending.request().operation(), clock.nanoTime() - pending.beganNs());
        }
        if (connection != null) {
            connection.answer(pending);
        }
        pending.end();
        keep(pending);
    }

    private void keep(PendingRequest pending) {
        if (kept.size() < MAX_KEPT && pending.isKept() && pending.isOf(calls()) && !memory.isShort()) {
            count(pending);
            kept.addLast(pending);
        } else {
            forget(pending);
        }
    }

    private void stepAll() {
        // In their order: of those that wait for the same space, the first is to hear of it first.
        int left = 0;
        for (int i = 0; i < active.size(); i++) {
            final PendingRequest each = active.get(i);
            if (!stepGuarded(each)) {
                active.set(left++, each);
            }
        }
        while (active.size() > left) {
            active.remove(active.size() - 1);
        }
        while (!waiting.isEmpty()) {
            final PendingRequest first = waiting.peekFirst();
            if (!stepGuarded(first)) {
                if (first.call().awaitsWorker()) {
                    return;
                }
                active.add(first);
            }
            waiting.pollFirst();
        }
    }

    /** True when the request is over. What fails costs its own client the connection: nobody knows what became of it. */
    private boolean stepGuarded(PendingRequest pending) {
        try {
            if (!pending.call().step()) {
                return false;
            }
            answered(pending);
        } catch (RuntimeException | Error e) {
            giveUp(pending, e);
        }
        return true;
    }

    private void turnCalls() {
        try { // not by way of what is guarded below: a Runnable for each turn would be garbage
            calls().turn();
        } catch (RuntimeException | Error e) {
            port.errors().report("hearing of clients' requests", e);
        }
    }

    /** What fails there concerns others too: the loop goes on. */
    private void guarded(String what, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            port.errors().report(what, e);
        }
    }

    private void abandon(PendingRequest pending) {
        guarded("giving up a client's request", pending.call()::abandon);
    }

    // --- between two starts of the server ---

    /**
     * The port is paused: the server is not touched any more. What was not begun waits, as what comes. A change that was begun
     * may take effect or not, and its client is told so: with the same id it will find out from whoever serves next.
     */
    void leaveServer() {
        for (PendingRequest each : active) {
            abandon(each);
            if (each.request().operation() == Operation.GET) {
                hold(each);
            } else {
                refuse(each, Status.NO_REPLY);
            }
        }
        active.clear();
        for (PendingRequest each : waiting) {
            abandon(each);
            hold(each);
        }
        waiting.clear();
    }

    /** The server has roles again: what has waited gets on. */
    void resume() {
        dropKept(); // each would keep the old server, with its index, from being collected
        for (int left = held.size(); left > 0; left--) {
            final PendingRequest first = held.removeFirst();
            final ClientConnection connection = first.connection();
            if (connection == null || connection.isClosed()) {
                drop(first);
            } else {
                try {
                    admit(first);
                } catch (RuntimeException | Error e) {
                    giveUp(first, e);
                }
            }
        }
    }

    private void drop(PendingRequest pending) {
        pending.end();
        keep(pending);
    }

    /** Those who have waited since before then are told that somebody else may have the shard by now. */
    void refuseHeldSince(long untilNs) {
        while (!held.isEmpty() && held.peekFirst().heldSinceNs() - untilNs <= 0) {
            refuse(held.removeFirst(), Status.NOT_PRIMARY);
        }
    }

    private void giveUp(PendingRequest pending, Throwable why) {
        port.errors().report("a client's request", why);
        forget(pending);
        final ClientConnection connection = pending.connection();
        if (connection != null) {
            connection.close();
        }
    }
}
