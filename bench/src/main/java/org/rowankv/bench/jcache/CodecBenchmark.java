package org.rowankv.bench.jcache;

import static java.util.Objects.requireNonNull;

import java.io.Serializable;
import java.math.BigDecimal;
import java.net.URI;
import java.time.LocalDate;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
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
import org.openjdk.jmh.infra.BenchmarkParams;
import org.rowankv.bench.report.KeyDraws;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** Whole gets through {@code javax.cache} of a text, and of a record of four fields in each codec and kept decoded. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CodecBenchmark {
    private static final double ZIPF = 0.99;

    /** The value: four fields, as a row of a database has. */
    public record Book(String title, long isbn, int pages, double price) implements Serializable {}

    /** The same with types of the JDK, for sizes. */
    public record Row(String title, BigDecimal price, LocalDate published, int pages) implements Serializable {}

    /** A cache of these values, shared by all threads. */
    @State(Scope.Benchmark)
    public static class Books {
        @Param("100000")
        public int keyCount;

        private String[] keys;
        private KeyDraws draws;
        private Cache<String, Object> cache;
        private CacheManager manager;

        @Setup(Level.Trial)
        public void fill(BenchmarkParams benchmark) {
            final String name = benchmark.getBenchmark();
            final String codec = name.substring(name.lastIndexOf('.') + 1);
            keys = CacheOpening.keys(keyCount);
            draws = codec.endsWith("Uniform") ? KeyDraws.uniform(keyCount) : KeyDraws.zipf(keyCount, ZIPF);
            manager = openManager();
            cache = openCache(manager, codec);
            final String[] stored = CacheOpening.keys(keyCount);
            for (int i = 0; i < keyCount; i++) {
                cache.put(stored[i], codec.equals("text") ? text(i) : book(i));
            }
        }

        Object next() {
            return cache.get(keys[draws.next()]);
        }

        @TearDown(Level.Trial)
        public void close() {
            manager.getCachingProvider().close();
        }
    }

    private static CacheManager openManager() {
        final Properties properties = new Properties();
        properties.setProperty("rowan.template.java*.codec", "java");
        properties.setProperty("rowan.template.near*.near", "validated");
        return Caching.getCachingProvider(RowanCachingProvider.class.getName())
                .getCacheManager(URI.create("rowan:embedded?name=codecs"), null, properties);
    }

    private static Cache<String, Object> openCache(CacheManager manager, String name) {
        return manager.createCache(name, new MutableConfiguration<>());
    }

    static Object row() {
        return new Row("A title of the book 1", new BigDecimal("19.95"), LocalDate.EPOCH, 301);
    }

    static Object book(int number) {
        return new Book("A title of the book " + number, 9_783_161_484_100L + number, 300 + number % 100, 19.95);
    }

    private static Object text(int number) {
        return "The text of number " + number + ", which has some seventy characters on average.";
    }

    /** Bytes of the stored value in the codec of that name. */
    static int storedBytes(String codec, Object value) {
        final CacheManager manager = openManager();
        try {
            openCache(manager, codec).put("key", value);
            final RowanClient client = manager.unwrap(RowanClient.class);
            final int cacheId =
                    requireNonNull(client.catalogue().find(codec), codec).id();
            return requireNonNull(client.scan(cacheId, true).next().value(), "value").length;
        } finally {
            manager.getCachingProvider().close();
        }
    }

    @Benchmark
    public Object text(Books books) {
        return books.next();
    }

    @Benchmark
    public Object java(Books books) {
        return books.next();
    }

    @Benchmark
    public Object record(Books books) {
        return books.next();
    }

    @Benchmark
    public Object recordUniform(Books books) {
        return books.next();
    }

    @Benchmark
    public Object near(Books books) {
        return books.next();
    }

    @Benchmark
    public Object nearUniform(Books books) {
        return books.next();
    }
}
