package org.rowankv.server.frontend;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.runtime.FaultLog;
import org.rowankv.runtime.concurrent.LatencyHistogram;

/**
 * What a client port did for its clients. May outlive the port, and go on counting with the next one at the same place: of
 * ports that share one, at most one is open at a time. Thread-safe; what is read is a moment old, and of different moments.
 */
public final class PortCounters {
    private final FaultLog<WireFault> faults = new FaultLog<>(WireFault.class);
    private final List<LoopCounters> loops = new CopyOnWriteArrayList<>();
    private final AtomicInteger connections = new AtomicInteger();
    private final LongAdder accepted = new LongAdder();
    private final LongAdder unfinished = new LongAdder();
    private final LongAdder acceptBackoff = new LongAdder();

    /** Those of a loop; the same ones for the loop of that number of the next port. */
    LoopCounters ofLoop(int number) {
        synchronized (loops) {
            while (loops.size() <= number) {
                loops.add(new LoopCounters());
            }
            return loops.get(number);
        }
    }

    FaultLog<WireFault> faults() {
        return faults;
    }

    /** One connection more; how many there are now. */
    int accepted() {
        accepted.increment();
        return connections.incrementAndGet();
    }

    void connectionClosed() {
        connections.decrementAndGet();
    }

    void countUnfinished() {
        unfinished.increment();
    }

    /** One more; how many there were. */
    long countAcceptPause() {
        acceptBackoff.increment();
        return acceptBackoff.sum();
    }

    private long sum(ToLongFunction<LoopCounters> each) {
        return loops.stream().mapToLong(each).sum();
    }

    /** Connections that are open now. */
    public int connections() {
        return connections.get();
    }

    public long acceptedConnections() {
        return accepted.sum();
    }

    /** Times that no connection could be taken, as when descriptors are exhausted. */
    public long acceptBackoff() {
        return acceptBackoff.sum();
    }

    /** Connections that were closed for what came over them. */
    public long faults(WireFault fault) {
        return faults.count(fault);
    }

    /** Requests that were given up when the port was closed. */
    public long unfinished() {
        return unfinished.sum();
    }

    /** Requests that were answered, whatever the answer. */
    public long requests() {
        long sum = 0;
        for (Operation operation : Operation.values()) {
            for (Status status : Status.values()) {
                sum += answered(operation, status);
            }
        }
        return sum;
    }

    public long answered(Operation operation, Status status) {
        return sum(loop -> loop.answered(operation, status));
    }

    /** Requests that were answered STALE_TERM: their clients had an older configuration, and the shard has another primary. */
    public long staleTerms() {
        long sum = 0;
        for (Operation operation : Operation.values()) {
            sum += answered(operation, Status.STALE_TERM);
        }
        return sum;
    }

    /** How many times a request came, or was left over, while the server had no roles, and had to wait. */
    public long waited() {
        return sum(LoopCounters::waits);
    }

    /** Requests that were answered from the memory of an earlier attempt, which had been applied or refused. */
    public long replayed() {
        return sum(LoopCounters::replayed);
    }

    public long receivedBytes() {
        return sum(LoopCounters::receivedBytes);
    }

    public long sentBytes() {
        return sum(LoopCounters::sentBytes);
    }

    /** Pages of scans. */
    public long pages() {
        return sum(LoopCounters::pages);
    }

    public long catalogueRequests() {
        return sum(LoopCounters::catalogueRequests);
    }

    /** Bytes that unfinished frames, unsent answers, and keys and values of requests take now. */
    public long bufferAccounting() {
        return sum(LoopCounters::bufferAccounting);
    }

    /** Times that a connection was not read further, since there was no room for the rest of a frame. */
    public long frameWaits() {
        return sum(LoopCounters::frameWaits);
    }

    /** Turns of the event loops. A loop with nothing to do makes none. */
    public long turns() {
        return sum(LoopCounters::turns);
    }

    /** How many requests of that operation took as long as that bucket of a {@link LatencyHistogram} says. */
    public long latencyCount(Operation operation, int bucket) {
        return sum(loop -> loop.latency(operation).count(bucket));
    }

    public long latencySumNs(Operation operation) {
        return sum(loop -> loop.latency(operation).sumNs());
    }
}
