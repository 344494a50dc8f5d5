package org.rowankv.server.frontend;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.FaultLog;
import org.rowankv.runtime.concurrent.LatencyHistogram;

/**
 * Counters of a client port. They may outlive the port and continue with its successor: of the ports that share one
 * instance, at most one is open at a time. Thread-safe; reads are not a consistent snapshot.
 */
public final class PortCounters {
    private static final Operation[] MUTATIONS =
            Arrays.stream(Operation.values()).filter(Operation::isMutation).toArray(Operation[]::new);

    private final FaultLog<WireFault> faults;
    private final List<LoopCounters> loops = new CopyOnWriteArrayList<>();
    private final AtomicInteger connections = new AtomicInteger();
    private final LongAdder accepted = new LongAdder();
    private final LongAdder unfinished = new LongAdder();
    private final LongAdder acceptPauses = new LongAdder();

    /** @param clock of its log of faults */
    public PortCounters(Clock clock) {
        this.faults = new FaultLog<>(WireFault.class, clock);
    }

    /** Counters of a loop; the same instance for the loop of that number of the next port. */
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

    /** Counts an accepted connection; returns how many are open. */
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

    /** Counts a pause; returns how many there were. */
    long countAcceptPause() {
        acceptPauses.increment();
        return acceptPauses.sum();
    }

    private long sum(ToLongFunction<LoopCounters> each) {
        return loops.stream().mapToLong(each).sum();
    }

    /** Open connections. */
    public int connections() {
        return connections.get();
    }

    public long acceptedConnections() {
        return accepted.sum();
    }

    /** Failed accepts, for example because file descriptors are exhausted. */
    public long acceptPauses() {
        return acceptPauses.sum();
    }

    /** Connections closed because of that fault. */
    public long faults(WireFault fault) {
        return faults.count(fault);
    }

    /** Requests abandoned when the port was closed. */
    public long unfinished() {
        return unfinished.sum();
    }

    /** Answered requests, whatever the status. */
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

    /** Requests answered STALE_TERM: the client had an older configuration, and the shard has another primary. */
    public long staleTerms() {
        long sum = 0;
        for (Operation operation : Operation.values()) {
            sum += answered(operation, Status.STALE_TERM);
        }
        return sum;
    }

    /** How many times a request was held because the server had no roles, or the shard was about to be opened. */
    public long waited() {
        return sum(LoopCounters::waits);
    }

    /** Requests answered from the completion of an earlier attempt, applied or refused. */
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

    /** Bytes held by incomplete frames, unsent answers, and keys and values of requests. */
    public long heldBytes() {
        return sum(LoopCounters::heldBytes);
    }

    /** Times that reading a connection was suspended for lack of memory for the rest of a frame. */
    public long frameWaits() {
        return sum(LoopCounters::frameWaits);
    }

    /** Cycles of the event loops. An idle loop makes none. */
    public long cycles() {
        return sum(LoopCounters::cycles);
    }

    /** Requests of that operation in that bucket of a {@link LatencyHistogram}. */
    public long latencyCount(Operation operation, int bucket) {
        return sum(loop -> loop.latency(operation).count(bucket));
    }

    /** Mutations in that bucket of a {@link LatencyHistogram}. */
    public long mutationLatencyCount(int bucket) {
        long count = 0;
        for (Operation operation : MUTATIONS) {
            count += latencyCount(operation, bucket);
        }
        return count;
    }

    public long latencySumNs(Operation operation) {
        return sum(loop -> loop.latency(operation).sumNs());
    }
}
