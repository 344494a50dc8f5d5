package org.rowankv.bench.trace;

import java.util.Arrays;
import org.rowankv.bench.paper.cluster.Strategy;
import org.rowankv.bench.paper.memory.MemorySettings;
import org.rowankv.bench.paper.memory.PersistentMemory;
import org.rowankv.bench.paper.model.Costs;
import org.rowankv.bench.paper.model.EntityRandom;

/**
 * Replays a {@link WriteTrace} through the model of persistent memory, as if each server had 24 workers: operations keep
 * their order and their servers, and are dealt to workers by seed. Their clock is simulated: they arrive at a fixed rate
 * that keeps the workers busy, begin when their worker is free, and land a way later. Landed entries are placed anew.
 * Cleaning and tables keep their places between the operations. Assumes that workers are independent.
 */
public final class TraceReplay {
    static final int WORKERS = 24;

    private static final int CLEAN_LOG = WORKERS;
    private static final int MIGRATION_LOG = WORKERS + 1;
    private static final int AGENTS_LOG = WORKERS + 2;
    private static final int FIRST_BACKUP_LOG = 32;
    /** 37 million puts per second on all servers: half of the paper's peak, and a little more than workers can do. */
    private static final long GAP_NS = 27;

    /** Processor time of a put with two backups. */
    private static final long PUT_NS = Costs.PUT_BEGIN + Costs.PERSIST + 2 * Costs.POST + Costs.PUT_END;
    /** Gets among the operations, which the trace does not have. */
    private static final int GET_PERCENT = 50;

    private static final long FIRST_SEGMENT = 1L << 30;
    private static final int INDEX_BITS = 24;

    /**
     * What came of one strategy's placement.
     *
     * @param writeAmplification bytes written to the media per byte requested, after the warm-up
     * @param requestedBytes that the memories have counted, without those of tables
     * @param placedBytes of the same writes in the trace
     */
    public record Outcome(Strategy strategy, double writeAmplification, long requestedBytes, long placedBytes) {}

    private final WriteTrace trace;
    private final int servers;
    private final boolean paperLayout;
    private final Strategy strategy;
    private final EntityRandom random;
    private final long[] times;
    private final long[] addresses;
    private final LogAddresses[] logs;
    private final byte[] workers;
    private final byte[] homes;
    private final long[] starts;

    /** Per worker and receiver: the first write of the open batch, when it began, and its bytes. */
    private final int[] batchHead;

    private final long[] batchBegan;
    private final int[] batchBytes;
    private final int[] batchNext;

    private TraceReplay(WriteTrace trace, int servers, Strategy strategy, boolean paperLayout, long seed) {
        if (trace.size() >= 1 << INDEX_BITS) {
            throw new IllegalArgumentException("too many writes: " + trace.size());
        }
        this.trace = trace;
        this.servers = servers;
        this.strategy = strategy;
        this.paperLayout = paperLayout;
        this.random = new EntityRandom(seed);
        this.times = new long[trace.size()];
        this.addresses = new long[trace.size()];
        this.logs = new LogAddresses[servers];
        for (int server = 0; server < servers; server++) {
            logs[server] = new LogAddresses(FIRST_SEGMENT);
        }
        this.workers = new byte[trace.operationCount()];
        this.homes = new byte[trace.operationCount()];
        this.starts = new long[trace.operationCount()];
        final int pairs = servers * WORKERS * servers;
        this.batchHead = new int[pairs];
        Arrays.fill(batchHead, -1);
        this.batchBegan = new long[pairs];
        this.batchBytes = new int[pairs];
        this.batchNext = new int[trace.size()];
    }

    static Outcome run(WriteTrace trace, int servers, Strategy strategy, boolean paperLayout, long seed) {
        final TraceReplay replay = new TraceReplay(trace, servers, strategy, paperLayout, seed);
        replay.schedule();
        return replay.write();
    }

    private int length(int write) {
        return paperLayout ? trace.paperLength(write) : trace.length(write);
    }

    /** Gives each write its time, and its address if the sender decides. */
    private void schedule() {
        final long[] freeAt = new long[servers * WORKERS];
        long due = 0;
        for (int i = 0; i < trace.size(); i++) {
            final int operation = trace.operation(i);
            final int server = trace.server(i);
            times[i] = due;
            addresses[i] = -1;
            switch (trace.owner(i)) {
                case WORKER -> {
                    due += GAP_NS;
                    final int worker = random.below(WORKERS);
                    final int all = server * WORKERS + worker;
                    final long start = Math.max(due, freeAt[all]);
                    freeAt[all] = start + PUT_NS + getsNs();
                    workers[operation] = (byte) worker;
                    homes[operation] = (byte) server;
                    starts[operation] = start;
                    times[i] = start;
                    addresses[i] = logs[server].take(worker, length(i));
                }
                case BACKUP -> {} // when all operations have their starts
                case CLEAN -> addresses[i] = logs[server].take(CLEAN_LOG, length(i));
                case MIGRATION -> addresses[i] = logs[server].take(MIGRATION_LOG, length(i));
                case TABLE -> addresses[i] = trace.address(i);
            }
        }
        land();
        for (int pair = 0; pair < batchHead.length; pair++) {
            send(pair, batchBegan[pair] + Costs.BATCH_AGE);
        }
    }

    /** Senders take addresses in the order in which their operations start. */
    private void land() {
        final long[] order = new long[trace.size()];
        int count = 0;
        for (int i = 0; i < trace.size(); i++) {
            if (trace.owner(i) == WriteOwner.BACKUP && trace.operation(i) != WriteTrace.NO_OPERATION) {
                order[count++] = starts[trace.operation(i)] << INDEX_BITS | i;
            }
        }
        Arrays.sort(order, 0, count);
        final long[] lastArrival = new long[servers * servers];
        for (int i = 0; i < count; i++) {
            final int write = (int) (order[i] & (1 << INDEX_BITS) - 1);
            land(write, trace.operation(write), trace.server(write), lastArrival);
        }
    }

    /** Time that a worker spends on gets between two puts. */
    private long getsNs() {
        long time = 0;
        while (random.percent(GET_PERCENT)) {
            time += Costs.GET;
        }
        return time;
    }

    private void land(int write, int operation, int receiver, long[] lastArrival) {
        final int sender = homes[operation];
        final long arrival = starts[operation] + random.oneWayNs();
        times[write] = arrival;
        switch (strategy) {
            case BATCH -> collect(write, (sender * WORKERS + workers[operation]) * servers + receiver, operation);
            case SHARE -> {
                if (random.percent(Costs.LATE_PERCENT)) {
                    times[write] = arrival + random.exponential(Costs.LATE);
                }
            }
            case LEASED -> {
                final int pair = sender * servers + receiver;
                times[write] = Math.max(arrival, lastArrival[pair]);
                lastArrival[pair] = times[write];
            }
            default -> {}
        }
        if (strategy.isPlacedBySender()) {
            addresses[write] = logs[receiver].take(backupLog(sender, workers[operation], 0), length(write));
        }
    }

    private void collect(int write, int pair, int operation) {
        final long start = starts[operation];
        if (batchHead[pair] >= 0 && start > batchBegan[pair] + Costs.BATCH_AGE) {
            send(pair, batchBegan[pair] + Costs.BATCH_AGE);
        }
        if (batchHead[pair] < 0) {
            batchBegan[pair] = start;
            batchBytes[pair] = 0;
        }
        batchNext[write] = batchHead[pair];
        batchHead[pair] = write;
        batchBytes[pair] += length(write);
        if (batchBytes[pair] > Costs.BATCH_BYTES) {
            send(pair, start);
        }
    }

    private void send(int pair, long timeNs) {
        if (batchHead[pair] < 0) {
            return;
        }
        final long arrival = timeNs + random.oneWayNs();
        for (int write = batchHead[pair]; write >= 0; write = batchNext[write]) {
            times[write] = arrival;
        }
        batchHead[pair] = -1;
    }

    private long[] inOrderOfTime() {
        final long[] order = new long[times.length];
        for (int i = 0; i < order.length; i++) {
            order[i] = times[i] << INDEX_BITS | i;
        }
        Arrays.sort(order);
        return order;
    }

    private Outcome write() {
        final PersistentMemory[] memories = new PersistentMemory[servers];
        for (int server = 0; server < servers; server++) {
            memories[server] = new PersistentMemory(MemorySettings.OF_THE_PAPER);
        }
        final long measuredNs = trace.measuredFrom() == 0 ? 0 : times[trace.measuredFrom()];
        boolean measures = false;
        long placed = 0;
        long tables = 0;
        for (final long each : inOrderOfTime()) {
            final int i = (int) (each & (1 << INDEX_BITS) - 1);
            final int server = trace.server(i);
            if (!measures && times[i] >= measuredNs) {
                measures = true;
                for (final PersistentMemory memory : memories) {
                    memory.resetCounts();
                }
            }
            if (addresses[i] < 0) {
                addresses[i] = arrive(i, server);
            }
            final long unused = memories[server].request(addresses[i], length(i), times[i]);
            if (measures && trace.owner(i) == WriteOwner.TABLE) {
                final long last = (addresses[i] + length(i) - 1) / PersistentMemory.SECTOR_LENGTH;
                tables += (last - addresses[i] / PersistentMemory.SECTOR_LENGTH + 1) * PersistentMemory.SECTOR_LENGTH;
            } else if (measures) {
                placed += length(i);
            }
        }
        long requested = 0;
        long media = 0;
        for (final PersistentMemory memory : memories) {
            requested += memory.requestBytes();
            media += memory.mediaBytes();
        }
        return new Outcome(strategy, (double) media / requested, requested - tables, placed);
    }

    /** The address of a landing that the receiver places. */
    private long arrive(int write, int server) {
        final int operation = trace.operation(write);
        if (operation == WriteTrace.NO_OPERATION && strategy != Strategy.ROWAN) {
            return logs[server].take(AGENTS_LOG, length(write));
        }
        final int log = operation == WriteTrace.NO_OPERATION
                ? backupLog(0, 0, 0)
                : backupLog(homes[operation], workers[operation], random.below(WORKERS));
        return logs[server].take(log, length(write));
    }

    /** The log of a landing. */
    private int backupLog(int sender, int senderWorker, int receiverWorker) {
        return FIRST_BACKUP_LOG
                + switch (strategy) {
                    case ROWAN -> 0;
                    case RPC -> receiverWorker;
                    case RWRITE, BATCH -> sender * WORKERS + senderWorker;
                    case SHARE, LEASED -> sender;
                };
    }
}
