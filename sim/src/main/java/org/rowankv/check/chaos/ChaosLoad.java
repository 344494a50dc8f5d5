package org.rowankv.check.chaos;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.cache.CacheManager;
import org.rowankv.check.client.ClientJvm;
import org.rowankv.check.client.ClientProcess;
import org.rowankv.check.client.Keys;
import org.rowankv.check.client.Window;
import org.rowankv.check.cluster.KeyChecker;
import org.rowankv.check.disturb.CutNetwork;
import org.rowankv.check.local.TemporaryCluster;

/**
 * All loads of a cluster: the three of this process, which go on, and the callers of the cache API in two other JVMs, whose
 * histories are checked at the end of each window. For one thread.
 */
final class ChaosLoad implements AutoCloseable {
    private static final int REGISTERS = 40;
    /** Callers of the JVM that only reads: each a register of its own, so that some stay with each server. */
    private static final int READERS = 12;
    /** After the end of a window; far longer than an operation may take. */
    private static final long REST_TIMEOUT_SECONDS = 120;

    private final ChaosFindings findings;
    private final CacheManager manager;
    private final ShardLoad shards;
    private final BatchLoad batches;
    private final EventLoad events;
    private final KeyChecker checker;
    private final List<ClientProcess> clients = new ArrayList<>();
    private long windowOperations;

    private ChaosLoad(TemporaryCluster cluster, ChaosFindings findings) {
        this.findings = findings;
        this.manager = ClientJvm.manager(cluster.uri());
        this.shards = new ShardLoad(cluster.addresses(), findings);
        this.batches = new BatchLoad(cluster.addresses(), findings);
        this.events = new EventLoad(cluster.addresses(), findings);
        this.checker = new KeyChecker(manager, Keys.of(REGISTERS));
    }

    static ChaosLoad start(ChaosCluster chaos, ChaosSettings settings, ChaosFindings findings) throws IOException {
        final TemporaryCluster cluster = chaos.cluster();
        final ChaosLoad load = new ChaosLoad(cluster, findings);
        boolean runs = false;
        try {
            load.startClients(cluster, chaos.network(), settings);
            runs = true;
            return load;
        } finally {
            if (!runs) {
                load.close();
            }
        }
    }

    private void startClients(TemporaryCluster cluster, CutNetwork network, ChaosSettings settings) throws IOException {
        for (boolean onlyReads : new boolean[] {false, true}) {
            final ClientProcess client = ClientProcess.start(
                    settings.launch().java(),
                    cluster.uri(),
                    onlyReads ? settings.callers() : 0,
                    onlyReads ? READERS : settings.callers(),
                    REGISTERS,
                    settings.seed() + clients.size(),
                    onlyReads,
                    onlyReads,
                    cluster.dir().resolve(onlyReads ? "readers.log" : "callers.log"));
            clients.add(client);
            if (onlyReads) {
                network.reader(client.pid());
            }
        }
        for (ClientProcess client : clients) {
            client.requireSameClock();
        }
    }

    /** The load by which outages are measured. */
    ShardLoad shards() {
        return shards;
    }

    long operations() {
        return shards.operations() + batches.operations() + windowOperations;
    }

    /** Changes that a subscriber has counted. */
    long events() {
        return events.delivered();
    }

    /** Losses that were reported to it, each of one shard. */
    long eventsLost() {
        return events.timesLost();
    }

    /** Starts the callers of the cache API. */
    void beginWindow() throws IOException {
        final int[] generations = checker.generations();
        for (ClientProcess client : clients) {
            client.window(generations);
        }
    }

    /** Stops them, and checks what they, the batches and the subscriber have done. */
    void endWindow() throws IOException {
        final Window window = new Window();
        final AtomicBoolean rested = new AtomicBoolean();
        final Future<?> guard = CompletableFuture.runAsync(
                () -> {
                    if (!rested.get()) {
                        findings.add(ChaosFindings.Kind.UNEXPLAINED, "an operation of the cache API never returned");
                        clients.forEach(ClientProcess::kill);
                    }
                },
                CompletableFuture.delayedExecutor(REST_TIMEOUT_SECONDS, TimeUnit.SECONDS));
        try {
            for (ClientProcess client : clients) {
                client.rest();
            }
            for (ClientProcess client : clients) {
                client.awaitRest(window);
            }
        } finally {
            rested.set(true);
            guard.cancel(false);
        }
        windowOperations += window.counts().operations();
        findings.addFailures(
                window.counts().refused() + window.counts().unknown(), "an operation of the cache API failed");
        window.exceptions().forEach(text -> findings.add(ChaosFindings.Kind.APP_EXCEPTIONS, text));
        checker.check(window).forEach(text -> findings.add(ChaosFindings.Kind.UNEXPLAINED, text));
        batches.check();
        events.settle();
    }

    /** Ends the loads of this process, and reads everything once more. */
    void endAndCheck() throws IOException {
        shards.endAndCheck(findings);
        checker.checkRetired().forEach(text -> findings.add(ChaosFindings.Kind.UNEXPLAINED, text));
        batches.check();
    }

    @Override
    public void close() {
        clients.forEach(ClientProcess::close);
        try (manager;
                shards;
                batches;
                events) {
            clients.clear();
        }
    }
}
