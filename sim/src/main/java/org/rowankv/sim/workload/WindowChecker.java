package org.rowankv.sim.workload;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.rowankv.check.history.Anomaly;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.HistoryRecorder;
import org.rowankv.check.history.KeyAction;
import org.rowankv.check.history.KeyHistoryChecker;
import org.rowankv.check.history.Outcome;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/**
 * Checker that runs when all clients pause: reads every key of every cache and checks the histories that led to the
 * values. It also checks that destroyed caches refuse requests.
 */
public final class WindowChecker {
    private static final int JUDGE = -1;

    private final Workload workload;
    private final WorkloadHost host;
    private final HistoryRecorder history;
    /** Ends of objects without a client's operation. */
    private final CallerLog ends;

    private final KeyHistoryChecker checker = new KeyHistoryChecker();
    private final Map<Integer, Long> held = new HashMap<>();

    WindowChecker(Workload workload, HistoryRecorder history, CallerLog ends) {
        this.workload = workload;
        this.host = workload.host();
        this.history = history;
        this.ends = ends;
    }

    /** Receives a read of the first cache. */
    @FunctionalInterface
    public interface Reader {
        void onRead(int key, Event read);
    }

    private record LastRead(CacheLife cache, int key, Event event) {}

    /**
     * Checks all operations since the last call.
     *
     * @param store executes a request until its reply
     * @param reader also receives the reads of the first cache
     */
    public void check(Consumer<Request> store, Reader reader) {
        // Read everything first: if a store stops itself meanwhile, everything is read again.
        final List<LastRead> reads = new ArrayList<>();
        for (CacheLife cache : workload.caches().lives()) {
            for (int key = 0; key < cache.keys() && !cache.isChecked(); key++) {
                reads.add(new LastRead(
                        cache, key, cache.isDestroyed() ? refused(store, cache, key) : read(store, cache, key)));
            }
            if (cache.isDestroyed()) {
                requireRefused(cache, store);
            }
        }
        for (LastRead last : reads) {
            checkKey(last.cache(), last.key(), last.event());
            if (last.cache().cache() == 0) {
                reader.onRead(last.key(), last.event());
            }
        }
        for (CacheLife cache : workload.caches().lives()) {
            if (cache.isDestroyed()) {
                cache.checked();
            } else {
                cache.survived();
            }
        }
        history.clear();
        host.count("windows judged");
    }

    private void checkKey(CacheLife cache, int key, Event lastRead) {
        final int number = cache.history(key);
        workload.lifetimes().addTo(ends, number, held.getOrDefault(number, Event.ABSENT));
        if (cache.isDestroyBegun()) {
            ends.add(number, destruction(cache));
        }
        final List<Anomaly> anomalies = new ArrayList<>(history.check(number, lastRead, checker));
        for (Anomaly anomaly : anomalies) {
            host.loss(lastRead.observed() == Event.TORN, cache + ", key " + key + ": " + anomaly);
        }
        held.put(number, lastRead.outcome() == Outcome.DONE ? lastRead.observed() : Event.ABSENT);
    }

    private static Event destruction(CacheLife cache) {
        return new Event(
                JUDGE,
                KeyAction.DESTROY,
                Event.ABSENT,
                0,
                Outcome.UNKNOWN,
                0,
                0,
                Event.NOT_ASKED,
                cache.destroyBegunNs(),
                Long.MAX_VALUE);
    }

    private Event read(Consumer<Request> store, CacheLife cache, int key) {
        final Request request = get(cache, key);
        host.tick();
        final long invokedNs = host.nowNs();
        store.accept(request);
        host.tick();
        final Status status = request.status();
        if (status != Status.OK && status != Status.NOT_FOUND) {
            host.violation("a read of key " + key + " of " + cache + " during a pause was answered " + status);
        }
        final boolean found = status == Status.OK;
        final long observed =
                found ? workload.values().idIn(request.result(), request.resultLength()) : Event.NOT_ASKED;
        if (found && workload.lifetimes().isOver(cache.history(key), observed, invokedNs)) {
            host.violation("value #" + Long.toHexString(observed) + " of key " + key + " of " + cache
                    + " is there during a pause, and its lifetime is over on every clock");
        }
        host.mix(observed);
        return event(found ? Outcome.DONE : Outcome.NOT_FOUND, request.version(), observed, invokedNs);
    }

    private Event refused(Consumer<Request> store, CacheLife cache, int key) {
        final Request request = get(cache, key);
        host.tick();
        final long invokedNs = host.nowNs();
        store.accept(request);
        host.tick();
        require(cache, request);
        return event(Outcome.REFUSED, 0, Event.NOT_ASKED, invokedNs);
    }

    private Event event(Outcome outcome, long version, long observed, long invokedNs) {
        return new Event(JUDGE, KeyAction.GET, Event.ABSENT, 0, outcome, version, 0, observed, invokedNs, host.nowNs());
    }

    private static Request get(CacheLife cache, int key) {
        final byte[] bytes = CacheLife.keyBytes(key);
        return new Request().get(cache.id(), bytes, 0, bytes.length);
    }

    /** Requires refusal for good: of reads and writes, in all shards with keys of the cache. */
    private void requireRefused(CacheLife cache, Consumer<Request> store) {
        for (int key = 0; key < cache.keys(); key++) {
            final byte[] bytes = CacheLife.keyBytes(key);
            final Request request = key == 0
                    ? new Request().put(cache.id(), bytes, 0, bytes.length, bytes, 0, bytes.length)
                    : get(cache, key);
            store.accept(request);
            require(cache, request);
        }
    }

    private void require(CacheLife cache, Request request) {
        if (request.status() != Status.UNKNOWN_CACHE) {
            host.violation(request.operation() + " for " + cache + " was answered " + request.status()
                    + " after its destruction");
        }
    }
}
