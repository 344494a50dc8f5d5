package org.rowankv.bench.jcache;

import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheManager;
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
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/**
 * The same operation through {@code javax.cache} and through the native client below it, on stores with equal settings:
 * String keys, byte values, and numbers for the entry processor.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class JCacheBenchmark {
    static final int VALUE_LENGTH = 70;

    /** The caches, shared by all threads. */
    @State(Scope.Benchmark)
    public static class OpenCaches {
        @Param("100000")
        public int keyCount;

        String[] keys;
        Cache<String, byte[]> values;
        Cache<String, Long> numbers;
        private CacheManager manager;

        @Setup(Level.Trial)
        public void fill() {
            keys = CacheOpening.keys(keyCount);
            manager = CacheOpening.manager();
            values = CacheOpening.cache(manager, "values", byte[].class);
            numbers = CacheOpening.cache(manager, "numbers", Long.class);
            for (String key : CacheOpening.keys(keyCount)) {
                values.put(key, new byte[VALUE_LENGTH]);
                numbers.put(key, 0L);
            }
        }

        @TearDown(Level.Trial)
        public void close() {
            manager.getCachingProvider().close();
        }
    }

    /** The client and the same objects as bytes, shared by all threads. */
    @State(Scope.Benchmark)
    public static class Client {
        @Param("100000")
        public int keyCount;

        byte[][] keys;
        RowanClient client;
        int values;
        int numbers;
        private CacheManager manager;

        @Setup(Level.Trial)
        public void fill() {
            keys = KeySpace.keys(keyCount);
            manager = CacheOpening.manager();
            client = manager.unwrap(RowanClient.class);
            values = client.catalogue().create("client-values", new byte[0]).id();
            numbers = client.catalogue().create("client-numbers", new byte[0]).id();
            for (byte[] key : KeySpace.keys(keyCount)) {
                client.put(values, key, new byte[VALUE_LENGTH]);
                client.put(numbers, key, new byte[Long.BYTES]);
            }
        }

        void execute(Request request) {
            client.execute(request);
            if (request.status() != Status.OK) {
                throw new IllegalStateException(request.operation() + " answered " + request.status());
            }
        }

        @TearDown(Level.Trial)
        public void close() {
            manager.getCachingProvider().close();
        }
    }

    /** State of one thread: a request, the value it stores, and a processor. */
    @State(Scope.Thread)
    public static class Caller {
        final Request request = new Request();
        final byte[] value = new byte[VALUE_LENGTH];
        final byte[] number = new byte[Long.BYTES];
        final CacheOpening.Increment increment = new CacheOpening.Increment();
    }

    @Benchmark
    public byte get(OpenCaches caches, Dice dice) {
        return caches.values.get(caches.keys[dice.next(caches.keyCount)])[7];
    }

    @Benchmark
    public void put(OpenCaches caches, Caller caller, Dice dice) {
        caller.value[7]++;
        caches.values.put(caches.keys[dice.next(caches.keyCount)], caller.value);
    }

    @Benchmark
    public Long invoke(OpenCaches caches, Caller caller, Dice dice) {
        return caches.numbers.invoke(caches.keys[dice.next(caches.keyCount)], caller.increment);
    }

    @Benchmark
    public byte clientGet(Client client, Caller caller, Dice dice) {
        final byte[] key = client.keys[dice.next(client.keyCount)];
        final Request request = caller.request;
        client.execute(request.get(client.values, key, 0, key.length));
        return request.result()[7];
    }

    @Benchmark
    public long clientPut(Client client, Caller caller, Dice dice) {
        final byte[] key = client.keys[dice.next(client.keyCount)];
        final byte[] value = caller.value;
        final Request request = caller.request;
        value[7]++;
        client.execute(request.put(client.values, key, 0, key.length, value, 0, value.length));
        return request.version();
    }

    /**
     * The client operations of an entry processor: a read, then a write unless another write came first. Confined to
     * one thread.
     */
    @Benchmark
    public long clientInvoke(Client client, Caller caller, Dice dice) {
        final byte[] key = client.keys[dice.next(client.keyCount)];
        final byte[] number = caller.number;
        final Request request = caller.request;
        client.execute(request.get(client.numbers, key, 0, key.length));
        final long version = request.version();
        number[7] = (byte) (request.result()[7] + 1);
        client.execute(request.put(client.numbers, key, 0, key.length, number, 0, number.length)
                .when(Condition.IF_VERSION, version));
        return request.version();
    }
}
