package org.rowankv.check.soak;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.area.AreaComparison;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedContext;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.topology.Configuration;

/**
 * One soak run: a store in a directory is filled. Then writers and readers use three kinds of caches: lasting, with a
 * lifetime, with a limit. Meanwhile the store cleans, expires and evicts; every reply is compared with a model. At the
 * end every key is compared, the store is closed, and its replicas are compared. Then it is opened and compared once
 * more.
 *
 * <p>The calling thread takes the samples. A run ends early at the first finding.
 */
final class SoakRun {
    private static final long CHECKPOINT_INTERVAL_MS = 1_000;
    private static final long LONGEST_CHECKPOINT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int MOST_VIOLATIONS = 10;
    private static final int QUARTERS = 4;
    /** Allowed growth of the heap after the first quarter, in percent and bytes. */
    private static final int HEAP_PERCENT = 10;

    private static final long HEAP_BYTES = 8L << 20;
    /** Allowed shortfall of the average utilisation, in percentage points. */
    private static final double LESS_FULL = 5;
    /** Below this many seconds the average reflects thread scheduling, not the utilisation that the store sustains. */
    private static final int AVERAGED_SECONDS = 30;

    /** Shares of the space by kind, in percent; removals are compensated at the start of the run. */
    private static final int[] SHARES = {62, 15, 20};
    /** Keys of the limited cache, as a multiple of its limit. */
    private static final int LIMITED_KEYS = 3;

    private static final int HEADER = 64;

    private final SoakSettings settings;
    private final Clock clock;
    private final PrintStream out;
    private final UnaryOperator<Session> network;
    private final RandomSource random;
    private final SoakCounts counts = new SoakCounts();
    private final LongAdder violations = new LongAdder();
    private final List<String> firstViolations = new ArrayList<>();
    private final List<SoakModel> models = new ArrayList<>();
    private final int[] cacheIds;
    private final SoakPace pace;
    private final List<SoakSample> quarters = new ArrayList<>();
    private final List<String> shortcomings = new ArrayList<>();
    private volatile int lastingKeys;
    private volatile boolean over;
    private double utilisationSum;
    private int utilisationSamples;

    /** @param network wrapper between the callers and the store */
    SoakRun(SoakSettings settings, Clock clock, PrintStream out, UnaryOperator<Session> network) {
        this.settings = settings;
        this.clock = clock;
        this.out = out;
        this.network = network;
        this.random = new SplittableRandomSource(settings.seed());
        this.cacheIds = new int[SoakModel.Kind.LIMITED.ordinal() + settings.limitedCaches()];
        this.pace = new SoakPace(settings.seconds());
    }

    private EmbeddedCluster open() {
        return EmbeddedCluster.open(
                EmbeddedSettings.of(with -> {
                    with.servers = settings.servers();
                    with.replicas = settings.servers();
                    with.dir = settings.directory();
                    with.capacityBytes = settings.capacityBytes();
                    with.workers = settings.writers() + 2;
                    with.checkpointIntervalMs = CHECKPOINT_INTERVAL_MS;
                }),
                EmbeddedContext.machine().withTuning(with -> with.counters = settings.counters()));
    }

    SoakReport run() {
        final Configuration configuration;
        final Map<String, Long> table;
        final double multiple;
        try (EmbeddedCluster cluster = open()) {
            prepare(cluster);
            final long startNs = clock.nanoTime();
            goOn(cluster, startNs);
            compareAll(cluster, "before it was closed");
            final SoakSample last = sample(cluster, startNs, false);
            multiple = (double) last.writtenBytes() / settings.capacityBytes();
            table = table(last);
            table.put("checkpoints", cluster.checkpoints().taken());
            configuration = cluster.configuration();
            reportErrors(cluster);
        }
        AreaComparison.differences(settings.directory(), configuration).forEach(this::violation);
        try (EmbeddedCluster cluster = open()) {
            table.put(
                    "servers that started from a checkpoint",
                    cluster.checkpoints().loaded());
            compareAll(cluster, "after it was opened again");
            reportErrors(cluster);
        }
        check(multiple, table);
        return new SoakReport(
                violations.sum(),
                List.copyOf(firstViolations),
                List.copyOf(shortcomings),
                table,
                quarters,
                multiple,
                pace);
    }

    private void reportErrors(EmbeddedCluster cluster) {
        cluster.errors().distinct().forEach(error -> violation("the store reported " + error));
    }

    private void violation(String what) {
        violations.increment();
        synchronized (firstViolations) {
            if (firstViolations.size() < MOST_VIOLATIONS) {
                firstViolations.add(what);
            }
        }
    }

    private int charge(int kind, int key) {
        return (HEADER + SoakValue.lengthOf(kind, key, 1) + 63) / 64 * 64;
    }

    /** Creates caches and models, each with keys for its share, and writes a first value of each key. */
    private void prepare(EmbeddedCluster cluster) {
        final long target = cluster.statistics().get(0).spaceLimit() * settings.utilisation() / 100;
        final Catalogue catalogue = cluster.session().catalogue();
        for (int cache = 0; cache < cacheIds.length; cache++) {
            final int limited = cache - SoakModel.Kind.LIMITED.ordinal();
            final SoakModel.Kind kind = limited >= 0 ? SoakModel.Kind.LIMITED : SoakModel.Kind.values()[cache];
            final long ofKind = target * SHARES[kind.ordinal()] / 100;
            final long share = limited >= 0 ? ofKind / settings.limitedCaches() : ofKind;
            long taken = 0;
            int keys = 0;
            while (taken < share) {
                taken += charge(cache, keys++);
            }
            final String name = kind.name().toLowerCase(Locale.ROOT) + (limited > 0 ? limited : "");
            cacheIds[cache] = catalogue.create(name, new byte[0]).id();
            switch (kind) {
                case LASTING -> {
                    lastingKeys = keys;
                    models.add(new SoakModel(kind, cache, 2 * keys)); // room to reach the requested utilisation
                }
                case MORTAL -> models.add(new SoakModel(kind, cache, keys));
                case LIMITED -> {
                    models.add(new SoakModel(kind, cache, LIMITED_KEYS * keys));
                    catalogue.limit(name, new CacheLimit(CacheLimit.NO_LIMIT, share));
                }
            }
        }
        out.println("soak: filling " + (target >> 20) + " MiB of each server with " + keysInUse(0) + " lasting, "
                + keysInUse(1) + " mortal, " + settings.limitedCaches() + " x " + keysInUse(2) + " limited objects");
        final SoakClient client = client(cluster, "fill");
        try {
            for (int kind = 0; kind < models.size(); kind++) {
                for (int key = 0; key < keysInUse(kind); key++) {
                    client.write(kind, key);
                }
            }
        } finally {
            client.close();
        }
    }

    private int keysInUse(int kind) {
        return kind == SoakModel.Kind.LASTING.ordinal()
                ? lastingKeys
                : models.get(kind).keys();
    }

    private SoakClient client(EmbeddedCluster cluster, String name) {
        return new SoakClient(
                new RowanClient(network.apply(cluster.session()), clock, random.fork("requests of " + name)),
                clock,
                random.fork(name),
                models,
                cacheIds,
                this::keysInUse,
                counts,
                this::violation);
    }

    private void goOn(EmbeddedCluster cluster, long startNs) {
        final List<Thread> threads = new ArrayList<>();
        final List<SoakClient> clients = new ArrayList<>();
        for (int i = 0; i < settings.writers() + settings.readers(); i++) {
            final boolean writes = i < settings.writers();
            final int number = i;
            final SoakClient client = client(cluster, "client " + i);
            clients.add(client);
            final Thread thread = new Thread(
                    () -> {
                        if (writes) {
                            client.write(number, settings.writers(), () -> over);
                        } else {
                            client.read(() -> over);
                        }
                    },
                    (writes ? "soak-writer-" : "soak-reader-") + i);
            thread.setDaemon(true);
            thread.setUncaughtExceptionHandler((dead, failure) -> violation(dead.getName() + " met " + failure));
            threads.add(thread);
            thread.start();
        }
        try {
            watch(cluster, startNs);
        } finally {
            over = true;
            threads.forEach(SoakRun::join);
            clients.forEach(SoakClient::close);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private void watch(EmbeddedCluster cluster, long startNs) {
        final long lengthNs = TimeUnit.SECONDS.toNanos(settings.seconds());
        final long lineNs = TimeUnit.SECONDS.toNanos(settings.seconds() > 30 ? 5 : 1);
        long nextLineNs = startNs;
        while (violations.sum() == 0 && quarters.size() < QUARTERS) {
            LockSupport.parkNanos(lengthNs / 200);
            final long passedNs = clock.nanoTime() - startNs;
            pace.at(passedNs, counts.operations());
            final SoakSample now = sample(cluster, startNs, passedNs >= lengthNs * (quarters.size() + 1) / QUARTERS);
            if (now.heapBytes() >= 0) {
                quarters.add(now);
            }
            if (quarters.isEmpty()) {
                makeFuller(now.utilisation());
            } else {
                utilisationSum += now.utilisation();
                utilisationSamples++;
            }
            if (startNs + passedNs - nextLineNs >= 0) {
                nextLineNs = startNs + passedNs + lineNs;
                out.printf(
                        Locale.ROOT,
                        "soak: %5.1f s  %5.1f x the capacity, %4.1f %% full, %,d operations, %,d expired, %,d evicted,"
                                + " %,d segments cleaned, violations=%d%n",
                        now.seconds(),
                        (double) now.writtenBytes() / settings.capacityBytes(),
                        now.utilisation(),
                        counts.operations(),
                        now.expired(),
                        now.evicted(),
                        now.segmentsCleaned(),
                        violations.sum());
            }
        }
        awaitCheckpoint(cluster);
    }

    /** The writers continue until there is a checkpoint: a short run on a busy machine may end before. Terminates. */
    private void awaitCheckpoint(EmbeddedCluster cluster) {
        final long endNs = clock.nanoTime() + LONGEST_CHECKPOINT_NS;
        while (violations.sum() == 0 && cluster.checkpoints().taken() == 0 && clock.nanoTime() - endNs < 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }

    private void makeFuller(double utilisation) {
        final int most = models.get(SoakModel.Kind.LASTING.ordinal()).keys();
        if (utilisation < settings.utilisation()) {
            lastingKeys = Math.min(most, lastingKeys + Math.max(1, lastingKeys / 100));
        }
    }

    private SoakSample sample(EmbeddedCluster cluster, long startNs, boolean all) {
        return SoakSample.of(
                (clock.nanoTime() - startNs) / 1e9,
                cluster.statistics(),
                all ? heapAfterCollection() : -1,
                all ? fileBytes(settings.directory()) : -1);
    }

    private static long heapAfterCollection() {
        ManagementFactory.getMemoryMXBean().gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** The store is open: a file may be deleted before its length is read. */
    static long fileBytes(Path directory) {
        final AtomicLong bytes = new AtomicLong();
        try {
            Files.walkFileTree(directory, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    bytes.addAndGet(attributes.isRegularFile() ? attributes.size() : 0);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                    if (failure instanceof NoSuchFileException && !file.equals(directory)) {
                        return FileVisitResult.CONTINUE;
                    }
                    throw failure;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.get();
    }

    /** Precondition: no writer runs. */
    private void compareAll(EmbeddedCluster cluster, String when) {
        final long before = violations.sum();
        final SoakClient client = client(cluster, "judge " + when);
        try {
            for (int kind = 0; kind < models.size(); kind++) {
                for (int key = 0; key < models.get(kind).keys(); key++) {
                    client.read(kind, key);
                }
            }
        } finally {
            client.close();
        }
        if (violations.sum() > before) {
            violation("of these " + (violations.sum() - before) + " were found when every key was read " + when);
        }
    }

    private Map<String, Long> table(SoakSample last) {
        final Map<String, Long> table = new LinkedHashMap<>();
        table.put("operations", counts.operations());
        table.put("objects created", counts.creations.sum());
        table.put("overwrites", counts.overwrites.sum());
        table.put("deletes", counts.removals.sum());
        table.put("deletes of nothing", counts.removalsOfNothing.sum());
        table.put("writes refused, the store being full", counts.refusals.sum());
        table.put("reads that found a value", counts.hits.sum());
        table.put("reads that found nothing", counts.misses.sum());
        table.put("expiries", last.expired());
        table.put("evictions", last.evicted());
        table.put("segments cleaned", last.segmentsCleaned());
        table.put("bytes written", last.writtenBytes());
        table.put("bytes relocated", last.relocatedBytes());
        table.put("tombstones dropped", last.tombstonesDropped());
        return table;
    }

    private void check(double multiple, Map<String, Long> table) {
        for (String what : List.of(
                "overwrites",
                "deletes",
                "expiries",
                "evictions",
                "segments cleaned",
                "bytes relocated",
                "tombstones dropped",
                "checkpoints",
                "servers that started from a checkpoint")) {
            if (table.getOrDefault(what, 0L) == 0) {
                shortcomings.add("this never happened: " + what);
            }
        }
        if (multiple < settings.leastMultiple()) {
            shortcomings.add(String.format(
                    Locale.ROOT,
                    "the capacity was written %.1f times only, not %d: take longer, or a smaller --capacity",
                    multiple,
                    settings.leastMultiple()));
        }
        if (utilisationSamples > 0
                && settings.seconds() >= AVERAGED_SECONDS
                && utilisationSum / utilisationSamples < settings.utilisation() - LESS_FULL) {
            shortcomings.add(String.format(
                    Locale.ROOT, "the store was %.1f %% full on the average", utilisationSum / utilisationSamples));
        }
        final String slower = pace.whySlower();
        if (slower != null) {
            shortcomings.add(slower);
        }
        final String grown = whyGrown(quarters);
        if (grown != null) {
            shortcomings.add(grown);
        }
    }

    /** Whether heap or files have grown from the end of the first quarter to that of the last; null if not. */
    static @Nullable String whyGrown(List<SoakSample> quarters) {
        if (quarters.size() < QUARTERS) {
            return null; // an earlier finding ended the run
        }
        final SoakSample first = quarters.get(0);
        final SoakSample last = quarters.get(QUARTERS - 1);
        if (last.heapBytes() > first.heapBytes() + first.heapBytes() * HEAP_PERCENT / 100 + HEAP_BYTES) {
            return "the heap has grown from " + first.heapBytes() + " bytes to " + last.heapBytes();
        }
        if (last.fileBytes() > first.fileBytes() + first.fileBytes() * HEAP_PERCENT / 100) {
            return "the files have grown from " + first.fileBytes() + " bytes to " + last.fileBytes();
        }
        return null;
    }
}
