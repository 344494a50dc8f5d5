package org.rowankv.check.crash;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.check.area.Stored;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.ScanCursor;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.embedded.EmbeddedCluster;

/**
 * The process that is killed: opens the store, records its content, loads it for a while and closes it. Arguments: see
 * {@link CrashRound#childArguments}.
 */
public final class CrashChild {
    private static final int FAILED = 70;

    private final CrashSettings settings;
    private final CrashRound round;
    private final Journal journal;

    private CrashChild(CrashSettings settings, CrashRound round) throws IOException {
        this.settings = settings;
        this.round = round;
        this.journal = CrashRound.openJournal(round.journalFile());
    }

    public static void main(String[] args) throws Exception {
        final CrashSettings settings = CrashSettings.ofChild(args);
        new CrashChild(settings, CrashRound.ofChild(args)).run();
    }

    private void run() throws IOException, InterruptedException {
        try (EmbeddedCluster cluster =
                EmbeddedCluster.open(settings.embedded(round.storeDirectory()), settings.surroundings(round))) {
            journal.phase(ChildPhase.OPENED);
            final RowanClient client = new RowanClient(
                    cluster.session(), SystemClock.INSTANCE, new SplittableRandomSource(round.seed()).fork("client"));
            final int[] cacheIds = cacheIds(client);
            observe(client, cacheIds).write(round.observedFile());
            journal.phase(ChildPhase.OBSERVED);
            if (round.loadMs() > 0) {
                load(client, cacheIds);
            }
            journal.phase(ChildPhase.CLOSING);
            client.close();
        }
        journal.phase(ChildPhase.CLOSED);
    }

    private static int[] cacheIds(RowanClient client) {
        final int[] ids = new int[CrashKeys.CACHES];
        for (int cache = 0; cache < ids.length; cache++) {
            ids[cache] = client.catalogue()
                    .create(CrashKeys.cacheName(cache), new byte[0])
                    .id();
        }
        return ids;
    }

    /** Reads every possible key, and iterates over every cache: both must show the same objects. */
    private static ObservedStates observe(RowanClient client, int[] cacheIds) {
        final ObservedStates observed = new ObservedStates(cacheIds);
        final Request request = new Request();
        for (int cache = 0; cache < CrashKeys.CACHES; cache++) {
            final Map<Integer, Stored> states = observed.of(cache);
            for (int number : CrashKeys.all(cache)) {
                final byte[] key = CrashKeys.bytes(number);
                client.execute(request.get(cacheIds[cache], key, 0, key.length));
                if (request.status() == Status.OK) {
                    states.put(number, Stored.of(request.result(), request.resultLength(), request.version()));
                } else if (request.status() != Status.NOT_FOUND) {
                    observed.contradictions()
                            .add("get of k" + number + " in " + CrashKeys.cacheName(cache) + " answered "
                                    + request.status());
                }
            }
            final Map<Integer, Stored> listed = list(client, cacheIds[cache]);
            if (!listed.equals(states)) {
                observed.contradictions()
                        .add("cache " + CrashKeys.cacheName(cache) + ": reading each key shows " + states.size()
                                + " objects, listing the cache shows " + listed.size()
                                + firstDifference(states, listed));
            }
        }
        return observed;
    }

    private static Map<Integer, Stored> list(RowanClient client, int cacheId) {
        final Map<Integer, Stored> listed = new HashMap<>();
        final ScanCursor cursor = client.scan(cacheId, true);
        while (cursor.hasNext()) {
            final ScanPage.Entry entry = cursor.next();
            final byte[] value = entry.value();
            if (value != null) {
                listed.put(CrashKeys.numberOf(entry.key()), Stored.of(value, value.length, entry.version()));
            }
        }
        return listed;
    }

    private static String firstDifference(Map<Integer, Stored> read, Map<Integer, Stored> listed) {
        for (Map.Entry<Integer, Stored> state : read.entrySet()) {
            if (!state.getValue().equals(listed.get(state.getKey()))) {
                return "; k" + state.getKey() + ": read " + state.getValue() + ", listed " + listed.get(state.getKey());
            }
        }
        for (Map.Entry<Integer, Stored> state : listed.entrySet()) {
            if (!read.containsKey(state.getKey())) {
                return "; k" + state.getKey() + ": read nothing, listed " + state.getValue();
            }
        }
        return "";
    }

    private void load(RowanClient client, int[] cacheIds) throws InterruptedException {
        final RandomSource random = new SplittableRandomSource(round.seed());
        final List<CrashLoad> loads = new ArrayList<>();
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < CrashKeys.THREADS; i++) {
            final CrashLoad load = new CrashLoad(
                    i, client, cacheIds, journal.writer(i), random.fork("load " + i), round.storeDirectory());
            final Thread thread = new Thread(load, "crash-load-" + i);
            thread.setUncaughtExceptionHandler((failed, failure) -> {
                failure.printStackTrace();
                Runtime.getRuntime().halt(FAILED);
            });
            loads.add(load);
            threads.add(thread);
        }
        journal.phase(ChildPhase.LOADING);
        threads.forEach(Thread::start);
        final long endNs = SystemClock.INSTANCE.nanoTime() + TimeUnit.MILLISECONDS.toNanos(round.loadMs());
        while (SystemClock.INSTANCE.nanoTime() < endNs) {
            LockSupport.parkNanos(1_000_000);
        }
        loads.forEach(CrashLoad::end);
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
