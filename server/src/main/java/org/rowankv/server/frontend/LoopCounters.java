package org.rowankv.server.frontend;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.concurrent.LatencyHistogram;

/**
 * Counters of one event loop. Written by the loop alone, readable by any thread: no lock, no allocation. Requests
 * answered in the cycle of their arrival share one clock reading.
 */
final class LoopCounters {
    private static final int STATUSES = Status.values().length;
    private static final int OPERATIONS = Operation.values().length;

    private final AtomicLongArray answered = new AtomicLongArray(OPERATIONS * STATUSES);
    private final LatencyHistogram[] latency = new LatencyHistogram[OPERATIONS];
    private final OwnedCounter replayed = new OwnedCounter();
    private final OwnedCounter receivedBytes = new OwnedCounter();
    private final OwnedCounter sentBytes = new OwnedCounter();
    private final OwnedCounter pages = new OwnedCounter();
    private final OwnedCounter catalogueRequests = new OwnedCounter();
    private final OwnedCounter cycles = new OwnedCounter();
    private final OwnedCounter waits = new OwnedCounter();
    private final OwnedCounter heldBytes = new OwnedCounter();
    private final OwnedCounter frameWaits = new OwnedCounter();
    /** By operation: requests answered in the cycle of their arrival. */
    private final long[] inCycle = new long[OPERATIONS];

    LoopCounters() {
        Arrays.setAll(latency, operation -> new LatencyHistogram());
    }

    // --- the loop only ---

    void answered(Request request) {
        final int at =
                request.operation().ordinal() * STATUSES + request.status().ordinal();
        answered.setOpaque(at, answered.getPlain(at) + 1);
        if (ResultBits.has(request.bits(), ResultBits.REPLAYED)) {
            replayed.add(1);
        }
    }

    void answeredInCycle(Operation operation) {
        inCycle[operation.ordinal()]++;
    }

    void answeredLater(Operation operation, long ns) {
        latency[operation.ordinal()].record(ns, 1);
    }

    /** Records the latency of requests that arrived and were answered in this cycle. */
    void endCycle(long ns) {
        for (int operation = 0; operation < OPERATIONS; operation++) {
            if (inCycle[operation] > 0) {
                latency[operation].record(ns, inCycle[operation]);
                inCycle[operation] = 0;
            }
        }
    }

    void received(long bytes) {
        receivedBytes.add(bytes);
    }

    void sent(long bytes) {
        sentBytes.add(bytes);
    }

    void page() {
        pages.add(1);
    }

    void catalogueRequest() {
        catalogueRequests.add(1);
    }

    /** A request is held until the server has roles. */
    void waited() {
        waits.add(1);
    }

    void countCycle() {
        cycles.add(1);
    }

    /** Adds to the memory held by connections and requests. */
    void held(long delta) {
        heldBytes.add(delta);
    }

    /** A frame waits for memory. */
    void frameWaited() {
        frameWaits.add(1);
    }

    // --- any thread ---

    long answered(Operation operation, Status status) {
        return answered.getOpaque(operation.ordinal() * STATUSES + status.ordinal());
    }

    LatencyHistogram latency(Operation operation) {
        return latency[operation.ordinal()];
    }

    long replayed() {
        return replayed.get();
    }

    long receivedBytes() {
        return receivedBytes.get();
    }

    long sentBytes() {
        return sentBytes.get();
    }

    long pages() {
        return pages.get();
    }

    long catalogueRequests() {
        return catalogueRequests.get();
    }

    long waits() {
        return waits.get();
    }

    long heldBytes() {
        return heldBytes.get();
    }

    long frameWaits() {
        return frameWaits.get();
    }

    long cycles() {
        return cycles.get();
    }
}
