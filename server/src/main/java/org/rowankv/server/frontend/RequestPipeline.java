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
 * The unanswered requests of an event loop, polled in every cycle. A request that waits for a lock, for space or for
 * acknowledgements delays only the requests behind it that need a slot of a worker context too. Owned by the loop.
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
    /** Requests that need a slot of a worker context. */
    private final WaitingRequests waiting = new WaitingRequests();

    private final WaitingRequests.Steps steps = this::stepGuarded;

    /** Requests held while the server has no roles, in order of arrival. */
    private final ArrayDeque<PendingRequest> held = new ArrayDeque<>();

    /** Requests for shards that are about to be opened here, in order of arrival. */
    private final ArrayDeque<PendingRequest> early = new ArrayDeque<>();
    /** Whether there are early requests, or one is about to be added: then the opener of a shard wakes the loop. */
    private volatile boolean areEarly;

    private volatile boolean mustLookAtEarly;

    /** Owner of {@link #calls}. */
    private RequestBackend served;

    private PollableCalls calls;
    private long answered;
    private long answeredBefore;
    /** Arrival time of this cycle's requests; meaningful while {@link #stamped}. */
    private long cycleNs;

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

    /** Polls each request once; true if any was answered since the previous call. */
    boolean poll() {
        final long before = answeredBefore;
        if (mustLookAtEarly) {
            admitEarly();
        }
        pollCalls();
        stepAll();
        pollCalls(); // completed steps may have output
        answeredBefore = answered;
        return answered != before;
    }

    /** Called after a cycle. */
    void endCycle(long nowNs) {
        if (stamped) {
            stamped = false;
            counts.endCycle(nowNs - cycleNs);
        }
    }

    /** Whether any request is pending. */
    boolean areUnderWay() {
        return !active.isEmpty() || !waiting.isEmpty();
    }

    /** Whether any request waits for new roles of the server. */
    boolean areHeld() {
        return !held.isEmpty();
    }

    /** Whether any request waits for a shard that is about to be opened. Thread-safe. */
    boolean areEarly() {
        return areEarly;
    }

    /** Early requests are looked at in the next cycle. Thread-safe; false if there are none. */
    boolean lookAtEarly() {
        if (!areEarly) {
            return false;
        }
        mustLookAtEarly = true;
        return true;
    }

    /** After an idle interval: helps the agents that requests may depend on. */
    void help() {
        guarded("helping agents of pending client requests", calls()::help);
    }

    /** The loop ends. The next owner of a slot, or the server's close, completes its pending mutation. */
    void end() {
        active.forEach(this::leave);
        waiting.forEach(this::leave);
        held.forEach(this::forget);
        early.forEach(this::forget);
        dropKept();
    }

    private void leave(PendingRequest unfinished) {
        abandon(unfinished);
        forget(unfinished);
        port.countUnfinished();
    }

    /** Drops the contexts kept for reuse. */
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

    /** Releases the charge of a context that is not used again. */
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

    /** Arrival time of this cycle's requests: one clock reading for all of them. */
    long cycleNs() {
        if (!stamped) {
            stamped = true;
            cycleNs = clock.nanoTime();
        }
        return cycleNs;
    }

    /** Bytes were read: requests that have arrived with them are begun next. */
    void received() {
        calls().arrived();
    }

    /** A request was read. */
    void arrived(PendingRequest pending) {
        count(pending);
    }

    /** Begins, refuses or holds a well-formed request. */
    void admit(PendingRequest pending) {
        if (port.isPaused()) {
            hold(pending);
            return;
        }
        final Status refused = port.whyNotServed(pending.shard(), pending.clientTerm());
        if (refused == Status.NOT_PRIMARY && port.isEarly(pending.shard(), pending.clientTerm())) {
            await(pending);
        } else if (refused != Status.OK) {
            refuse(pending, refused);
        } else if (port.catalogue().isKnown(pending.request().cacheId())) {
            pending.begin(calls());
            begin(pending);
        } else {
            awaitCatalogue(pending);
        }
    }

    /** The cache was created through another server, or does not exist. */
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

    private void await(PendingRequest pending) {
        pending.hold(clock.nanoTime());
        counts.waited();
        early.addLast(pending);
        areEarly = true;
        mustLookAtEarly = true; // once more: an opening before this write has woken nothing
    }

    private void admitEarly() {
        mustLookAtEarly = false;
        for (int left = early.size(); left > 0; left--) {
            final PendingRequest first = early.removeFirst();
            if (port.whyNotServed(first.shard(), first.clientTerm()) == Status.NOT_PRIMARY
                    && port.isEarly(first.shard(), first.clientTerm())) {
                early.addLast(first);
            } else {
                admitLate(first);
            }
        }
        areEarly = !early.isEmpty();
    }

    /** Refuses early requests that wait since before then: the shard may be opened by another server. */
    void refuseEarlySince(long untilNs) {
        while (!early.isEmpty() && early.peekFirst().heldSinceNs() - untilNs <= 0) {
            refuse(early.removeFirst(), Status.NOT_PRIMARY);
            areEarly = !early.isEmpty();
        }
    }

    private void begin(PendingRequest pending) {
        if (!waiting.isEmpty() && pending.request().operation().isMutation()) {
            waiting.add(pending); // behind earlier ones
        } else if (pending.call().step()) {
            answered(pending);
        } else if (pending.call().awaitsWorker()) {
            waiting.add(pending);
        } else {
            active.add(pending);
        }
    }

    void answered(PendingRequest pending) {
        final ClientConnection connection = pending.connection();
        answered++;
        counts.answered(pending.request());
        if (stamped && pending.beganNs() == cycleNs) {
            counts.answeredInCycle(pending.request().operation());
        } else {
            counts.answeredLater(pending.request().operation(), clock.nanoTime() - pending.beganNs());
        }
        if (connection != null) {
            if (isForAnotherServer(pending.request().status())) {
                if (!port.isPaused() && port.routing().isAnnouncing()) {
                    port.announce(clock.nanoTime()); // if the observer of the roles has yet to run
                }
                connection.routingChanged(); // in front of the answer: its client need not ask for it
            }
            connection.answer(pending);
        }
        pending.end();
        keep(pending);
    }

    private static boolean isForAnotherServer(Status status) {
        return status == Status.STALE_TERM || status == Status.NOT_PRIMARY;
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
        // In order: of the requests that wait for the same space, the first must be polled first.
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
        waiting.step(steps, active);
    }

    /** True when the request is complete. A failure closes its client's connection: the outcome is unknown. */
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

    private void pollCalls() {
        try { // not through guarded(): a Runnable per cycle would be garbage
            calls().poll();
        } catch (RuntimeException | Error e) {
            port.errors().report("polling client requests", e);
        }
    }

    /** A failure there concerns other requests too: the loop continues. */
    private void guarded(String what, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            port.errors().report(what, e);
        }
    }

    private void abandon(PendingRequest pending) {
        guarded("abandoning a client's request", pending.call()::abandon);
    }

    // --- between two starts of the server ---

    /**
     * The port is paused: the server must not be accessed any more. Requests not begun are held, as are new ones. A
     * begun mutation may or may not take effect; its client receives NO_REPLY and resolves it with the same request id
     * at the next primary.
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
        waiting.forEach(each -> {
            abandon(each);
            hold(each);
        });
        waiting.clear();
        early.forEach(this::hold);
        early.clear();
        areEarly = false;
    }

    /** The server has roles again: resumes held requests. */
    void resume() {
        dropKept(); // each would keep the old server, with its index, reachable
        for (int left = held.size(); left > 0; left--) {
            admitLate(held.removeFirst());
        }
    }

    /** Admits a request that has waited, unless its client is gone. */
    private void admitLate(PendingRequest pending) {
        final ClientConnection connection = pending.connection();
        if (connection == null || connection.isClosed()) {
            drop(pending);
        } else {
            try {
                admit(pending);
            } catch (RuntimeException | Error e) {
                giveUp(pending, e);
            }
        }
    }

    private void drop(PendingRequest pending) {
        pending.end();
        keep(pending);
    }

    /** Refuses requests held since before then: another server may own the shard by now. */
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
