package org.rowankv.bench.trace;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rowankv.bench.report.KeyDraws;
import org.rowankv.bench.report.MeasuringJvm;
import org.rowankv.bench.store.ZippyObjects;
import org.rowankv.driver.RowanClient;
import org.rowankv.server.engine.ServerStatistics;

/**
 * A run of the product whose writes were traced: six embedded servers, three replicas, objects with the sizes of
 * ZippyDB, half reads and half updates by Zipf 0.99. The store is so small that it must clean.
 */
final class TracedRun {
    static final int SERVERS = 6;
    static final int REPLICAS = 3;

    private static final int WORKERS = 4;
    private static final int CALLERS = 2;
    private static final double THETA = 0.99;
    private static final int ENTRY = 192;
    /** As many as the product aims at. */
    private static final int SEGMENTS = 64;

    private static final int LEAST_SEGMENT = 64 << 10;
    private static final int LOOK_EVERY_NS = 5_000_000;
    private static final int MOST_LOOKS = 2_000;
    /** Segments that hold no live entries. */
    private static final int SPARE_SEGMENTS = 2 * (WORKERS + 11);

    private final WriteTrace trace;
    private final long tLogBytes;
    private final long bLogBytes;
    private final long relocatedBytes;
    private final long segmentBase;
    private final int segmentLength;

    private TracedRun(
            WriteTrace trace,
            long tLogBytes,
            long bLogBytes,
            long relocatedBytes,
            long segmentBase,
            int segmentLength) {
        this.trace = trace;
        this.tLogBytes = tLogBytes;
        this.bLogBytes = bLogBytes;
        this.relocatedBytes = relocatedBytes;
        this.segmentBase = segmentBase;
        this.segmentLength = segmentLength;
    }

    /** @param roomy whether the store is so large that it cleans nothing */
    static TracedRun run(int objects, int operations, boolean roomy) throws IOException, InterruptedException {
        final Path directory = Files.createTempDirectory("rowan-trace");
        try {
            return run(directory.resolve("store"), objects, operations, roomy);
        } finally {
            MeasuringJvm.delete(directory);
        }
    }

    private static TracedRun run(Path directory, int objects, int operations, boolean roomy)
            throws InterruptedException {
        final long live = (long) objects * REPLICAS / SERVERS * ENTRY;
        final long written = live + (long) operations / 2 * REPLICAS / SERVERS * ENTRY;
        final int segment = Math.max(LEAST_SEGMENT, Integer.highestOneBit((int) (live / SEGMENTS)));
        final long room = roomy ? 2 * written : 3 * live / 2;
        final TappedStore store = new TappedStore(directory, with -> {
            with.servers = SERVERS;
            with.replicas = REPLICAS;
            with.workers = WORKERS;
            with.segmentBytes = segment;
            with.capacityBytes = (room / segment + SPARE_SEGMENTS) * segment;
        });
        try (store) {
            try (RowanClient client = store.client(1)) {
                final ZippyObjects all = new ZippyObjects(client);
                for (int i = 0; i < objects; i++) {
                    all.put(i);
                }
            }
            store.trace().measureFromHere();
            operate(store, objects, operations);
            store.settle();
            return ended(store, segment);
        }
    }

    /** Ends the trace between two writes, when the backups have digested all that has landed. */
    private static TracedRun ended(TappedStore store, int segment) {
        final WriteTrace trace = store.trace();
        for (int looks = 1; ; looks++) {
            final int writes = trace.size();
            long tLog = 0;
            long bLog = 0;
            long relocated = 0;
            for (final ServerStatistics server : store.statistics()) {
                tLog += server.tLogBytes();
                bLog += server.bLogBytes();
                relocated += server.relocatedBytes();
            }
            final boolean isQuiet = bLog == trace.allBytes(WriteOwner.BACKUP);
            if ((isQuiet || looks > MOST_LOOKS) && trace.end(writes)) {
                return new TracedRun(trace, tLog, bLog, relocated, store.segmentBase(), segment);
            }
            LockSupport.parkNanos(LOOK_EVERY_NS);
        }
    }

    private static void operate(TappedStore store, int objects, int operations) throws InterruptedException {
        final KeyDraws draws = KeyDraws.zipf(objects, THETA);
        final SplittableRandom kinds = new SplittableRandom(3);
        final int[] drawn = new int[operations];
        for (int i = 0; i < operations; i++) {
            drawn[i] = kinds.nextBoolean() ? draws.next() : ~draws.next();
        }
        final AtomicInteger next = new AtomicInteger();
        final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        final Thread[] callers = new Thread[CALLERS];
        for (int caller = 0; caller < CALLERS; caller++) {
            final long seed = caller + 2L;
            callers[caller] = new Thread(
                    () -> {
                        try (RowanClient client = store.client(seed)) {
                            final ZippyObjects all = new ZippyObjects(client);
                            for (int i = next.getAndIncrement(); i < operations; i = next.getAndIncrement()) {
                                if (drawn[i] >= 0) {
                                    all.get(drawn[i]);
                                } else {
                                    all.put(~drawn[i]);
                                }
                            }
                        } catch (RuntimeException | Error e) {
                            failure.compareAndSet(null, e);
                        }
                    },
                    "trace-caller-" + caller);
            callers[caller].start();
        }
        for (final Thread caller : callers) {
            caller.join();
        }
        final Throwable failed = failure.get();
        if (failed != null) {
            throw new IllegalStateException("the traced run failed", failed);
        }
    }

    WriteTrace trace() {
        return trace;
    }

    /** Bytes that the servers' own counters have for the t-logs. */
    long tLogBytes() {
        return tLogBytes;
    }

    /** As above, for what backups have digested. */
    long bLogBytes() {
        return bLogBytes;
    }

    /** As above, for what was cleaned. */
    long relocatedBytes() {
        return relocatedBytes;
    }

    long misplacedLandings() {
        return LandedOnce.misplaced(trace, segmentLength, segmentBase);
    }

    long incompleteOperations() {
        return LandedOnce.incomplete(trace, REPLICAS - 1);
    }
}
