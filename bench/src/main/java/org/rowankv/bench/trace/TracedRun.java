package org.rowankv.bench.trace;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;
import org.rowankv.bench.paper.cluster.Strategy;
import org.rowankv.bench.report.KeyDraws;
import org.rowankv.bench.report.MeasuringJvm;
import org.rowankv.bench.store.ZippyObjects;
import org.rowankv.server.engine.ServerStatistics;

/**
 * A run of the product whose writes were traced: six embedded servers, three replicas, objects with the means of
 * ZippyDB, half reads and half updates by Zipf 0.99. The store is so small that it must clean. Immutable: equal runs
 * have equal traces.
 */
public final class TracedRun {
    private static final int SERVERS = 6;
    private static final int REPLICAS = 3;
    private static final int WORKERS = 4;
    private static final int OPERATIONS_PER_OBJECT = 5;
    private static final double THETA = 0.99;
    private static final int ENTRY = 192;
    /** As many as the product aims at. */
    private static final int SEGMENTS = 64;

    private static final int LEAST_SEGMENT = 64 << 10;
    /** Segments that hold no live entries. */
    private static final int SPARE_SEGMENTS = 2 * (WORKERS + 11);

    private static final int MOST_SETTLING = 2_000;

    private final WriteTrace trace;
    private final long uncountedBytes;
    private final long misplacedLandings;
    private final long incompleteOperations;

    private TracedRun(WriteTrace trace, long uncountedBytes, long misplacedLandings, long incompleteOperations) {
        this.trace = trace;
        this.uncountedBytes = uncountedBytes;
        this.misplacedLandings = misplacedLandings;
        this.incompleteOperations = incompleteOperations;
    }

    /** Runs five operations per object. */
    public static TracedRun run(int objects) throws IOException {
        final Path directory = Files.createTempDirectory("rowan-trace");
        try {
            return run(directory.resolve("store"), objects);
        } finally {
            MeasuringJvm.delete(directory);
        }
    }

    private static TracedRun run(Path directory, int objects) {
        final long live = (long) objects * REPLICAS / SERVERS * ENTRY;
        final int segment = Math.max(LEAST_SEGMENT, Integer.highestOneBit((int) (live / SEGMENTS)));
        final long room = 3 * live / 2;
        try (TappedStore store = new TappedStore(directory, with -> {
            with.servers = SERVERS;
            with.replicas = REPLICAS;
            with.workers = WORKERS;
            with.segmentBytes = segment;
            with.capacityBytes = (room / segment + SPARE_SEGMENTS) * segment;
        })) {
            operate(store, objects);
            return ended(store, segment);
        }
    }

    private static void operate(TappedStore store, int objects) {
        final ZippyObjects all = new ZippyObjects(store.client());
        for (int i = 0; i < objects; i++) {
            all.put(i);
            store.operated();
        }
        store.trace().measureFromHere();
        final KeyDraws draws = KeyDraws.zipf(objects, THETA);
        final SplittableRandom kinds = new SplittableRandom(3);
        for (int i = 0; i < OPERATIONS_PER_OBJECT * objects; i++) {
            final int object = draws.next();
            if (kinds.nextBoolean()) {
                all.get(object);
            } else {
                all.put(object);
            }
            store.operated();
        }
    }

    /** Ends the trace when the backups have digested all that has landed. */
    private static TracedRun ended(TappedStore store, int segment) {
        final WriteTrace trace = store.trace();
        int rounds = 0;
        do {
            store.settle();
            rounds++;
        } while (uncounted(store, WriteOwner.BACKUP, ServerStatistics::bLogBytes) != 0 && rounds < MOST_SETTLING);
        final long uncounted = uncounted(store, WriteOwner.WORKER, ServerStatistics::tLogBytes)
                + uncounted(store, WriteOwner.BACKUP, ServerStatistics::bLogBytes)
                + uncounted(store, WriteOwner.CLEAN, ServerStatistics::relocatedBytes);
        trace.end();
        return new TracedRun(
                trace,
                uncounted,
                LandedOnce.misplaced(trace, segment, store.segmentBase()),
                LandedOnce.incomplete(trace, REPLICAS - 1));
    }

    private static long uncounted(TappedStore store, WriteOwner owner, ToLongFunction<ServerStatistics> bytes) {
        final long counted = store.statistics().stream().mapToLong(bytes).sum();
        return Math.abs(counted - store.trace().allBytes(owner));
    }

    /**
     * Replays the trace.
     *
     * @param paperLayout whether entries have the lengths of the paper's layout
     */
    public TraceReplay.Outcome replay(Strategy strategy, boolean paperLayout, long seed) {
        return TraceReplay.run(trace, SERVERS, strategy, paperLayout, seed);
    }

    /** Number of measured writes. */
    public long entries(WriteOwner owner) {
        return trace.entries(owner);
    }

    /** Bytes of measured writes, in our layout. */
    public long bytes(WriteOwner owner) {
        return trace.bytes(owner);
    }

    /** Bytes by which the trace differs from the servers' own counters of t-logs, b-logs and cleaning. */
    public long uncountedBytes() {
        return uncountedBytes;
    }

    /** Landings that overlap another one, or leave a gap. */
    public long misplacedLandings() {
        return misplacedLandings;
    }

    /** Operations without one landing on each backup. */
    public long incompleteOperations() {
        return incompleteOperations;
    }
}
