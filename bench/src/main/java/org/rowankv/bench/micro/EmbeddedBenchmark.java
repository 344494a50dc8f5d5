package org.rowankv.bench.micro;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.rowankv.bench.report.Dice;
import org.rowankv.bench.report.KeySpace;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.engine.ServerStatistics;

/** Get and put of the native client on servers in this JVM: bytes in, bytes out, with a reused request. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EmbeddedBenchmark {
    // Objects of 192 bytes in the log; the rest is room for the cleaner, which a benchmark of puts keeps busy.
    private static final long CAPACITY_PER_KEY = 640;
    private static final long LEAST_CAPACITY = 128L << 20;

    /** The store, shared by all threads. */
    @State(Scope.Benchmark)
    public static class Store {
        @Param("1000000")
        public int keyCount;

        @Param("1")
        public int replicas;

        byte[][] keys;
        RowanClient client;
        int cacheId;
        private EmbeddedCluster cluster;

        @Setup(Level.Trial)
        public void fill() {
            keys = KeySpace.keys(keyCount);
            cluster = open(replicas, keyCount);
            client = new RowanClient(cluster.session(), SystemClock.INSTANCE, new SplittableRandomSource(1));
            cacheId = client.catalogue().create("bench", new byte[0]).id();
            // Warm up until the cleaner has started everywhere: then every page of the areas was touched once, and the
            // system allocates no memory during measurement.
            do {
                load(client, cacheId, keyCount);
            } while (!allClean());
        }

        private boolean allClean() {
            for (ServerStatistics server : cluster.statistics()) {
                if (server.cleanedSegments() == 0) {
                    return false;
                }
            }
            return true;
        }

        @TearDown(Level.Trial)
        public void close() {
            client.close();
            cluster.close();
        }
    }

    /** Request and buffer of one thread. */
    @State(Scope.Thread)
    public static class Caller {
        final Request request = new Request();
        final byte[] value = new byte[KeySpace.VALUE_LENGTH];
    }

    static EmbeddedCluster open(int replicas, int keyCount) {
        return EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = replicas;
            with.replicas = replicas;
            with.capacityBytes = Math.max(LEAST_CAPACITY, CAPACITY_PER_KEY * keyCount);
        }));
    }

    public static void load(RowanClient client, int cacheId, int keyCount) {
        final Request request = new Request();
        final byte[] value = new byte[KeySpace.VALUE_LENGTH];
        for (int i = 0; i < keyCount; i++) {
            final byte[] key = KeySpace.key(i);
            client.execute(request.put(cacheId, key, 0, key.length, value, 0, value.length));
            expectOk(request);
        }
    }

    private static void expectOk(Request request) {
        if (request.status() != Status.OK) {
            throw new IllegalStateException(request.operation() + " answered " + request.status());
        }
    }

    @Benchmark
    public byte get(Store store, Caller caller, Dice dice) {
        final byte[] key = store.keys[dice.next(store.keyCount)];
        final Request request = caller.request;
        store.client.execute(request.get(store.cacheId, key, 0, key.length));
        expectOk(request);
        return request.result()[7];
    }

    @Benchmark
    public long put(Store store, Caller caller, Dice dice) {
        final byte[] key = store.keys[dice.next(store.keyCount)];
        final byte[] value = caller.value;
        final Request request = caller.request;
        value[7]++;
        store.client.execute(request.put(store.cacheId, key, 0, key.length, value, 0, value.length));
        expectOk(request);
        return request.version();
    }
}
