package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;

/** The end of objects: by lifetime, by removal, by clear; and what is remembered of it. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class LifetimeTest {
    @TempDir
    private Path dir;

    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private EmbeddedSettings settings;
    private EmbeddedCluster cluster;
    private RowanClient client;
    private int cache;

    @BeforeEach
    void open() {
        settings = EmbeddedSettings.of(with -> {
            with.servers = 3;
            with.replicas = 3;
            with.dir = dir;
            with.shards = 3;
            with.workers = 4;
            with.capacityBytes = 3 << 20;
        });
        cluster = EmbeddedCluster.open(settings, clock, new SplittableRandomSource(1));
        client = new RowanClient(cluster.session(), clock, new SplittableRandomSource(2));
        cache = Stores.cache(client);
    }

    @AfterEach
    void close() {
        Stores.requireHealth(cluster);
        client.close();
        cluster.close();
    }

    private void reopen() {
        close();
        open();
    }

    private Request execute(Request request) {
        client.execute(request);
        return request;
    }

    private Request put(String key, String value, long ttlMs) {
        return execute(new Request()
                .put(cache, bytes(key), 0, key.length(), bytes(value), 0, value.length())
                .ttl(ttlMs, ttlMs));
    }

    private Request get(String key) {
        return execute(new Request().get(cache, bytes(key), 0, key.length()));
    }

    private Request putIfAbsentSince(String key, long version) {
        return execute(new Request()
                .put(cache, bytes(key), 0, key.length(), bytes("new"), 0, 3)
                .when(Condition.IF_ABSENT_SINCE, version));
    }

    private long entriesLogged() {
        return cluster.statistics().stream().mapToLong(s -> s.tLogBytes()).sum();
    }

    @Test
    void shouldLogAnExpiryOnceAndSayItOnce() {
        put("k", "v", 100);
        clock.advanceMs(99);
        assertThat(get("k").status()).isEqualTo(Status.OK);
        clock.advanceMs(1);
        final long before = entriesLogged();
        final Request first = get("k");
        assertThat(first.status()).isEqualTo(Status.NOT_FOUND);
        assertThat(first.has(ResultBits.EXPIRED)).isTrue();
        assertThat(first.resultBytes()).isEqualTo(bytes("v"));
        final long after = entriesLogged();
        assertThat(after).isGreaterThan(before);
        final Request second = get("k");
        assertThat(second.status()).isEqualTo(Status.NOT_FOUND);
        assertThat(second.bits()).isZero();
        assertThat(entriesLogged()).isEqualTo(after);
    }

    @Test
    void shouldNotBringAnExpiredObjectBackWhenTheClockStepsBack() {
        put("k", "v", 100);
        clock.advanceMs(100);
        assertThat(get("k").has(ResultBits.EXPIRED)).isTrue();
        clock.skew(-1_000_000);
        assertThat(get("k").status()).isEqualTo(Status.NOT_FOUND);
        reopen();
        assertThat(get("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void shouldKeepTheVersionOfATouchedObject() {
        final long version = put("k", "v", 100).version();
        final Request touch = execute(new Request().touch(cache, bytes("k"), 0, 1, version, 1000));
        assertThat(touch.version()).isEqualTo(version);
        clock.advanceMs(500);
        assertThat(get("k").version()).isEqualTo(version);
        reopen();
        assertThat(get("k").version()).isEqualTo(version);
        final Request replace = execute(new Request()
                .put(cache, bytes("k"), 0, 1, bytes("w"), 0, 1)
                .ttl(Ttl.ETERNAL, Ttl.UNCHANGED)
                .when(Condition.IF_VERSION, version));
        assertThat(replace.status()).isEqualTo(Status.OK);
        clock.advanceMs(500);
        assertThat(get("k").has(ResultBits.EXPIRED)).isTrue();
    }

    @Test
    void shouldTellARemovalSinceFromAnAbsenceThroughout() {
        final long miss = get("k").version();
        put("k", "v", Ttl.ETERNAL);
        client.remove(cache, bytes("k"));
        assertThat(putIfAbsentSince("k", miss).status()).isEqualTo(Status.CONDITION_FAILED);
        final long later = get("k").version();
        assertThat(putIfAbsentSince("k", later).status()).isEqualTo(Status.OK);
    }

    @Test
    void shouldTellAnExpirySinceFromAnAbsenceThroughout() {
        final long miss = get("k").version();
        put("k", "v", 10);
        clock.advanceMs(10);
        get("k");
        assertThat(putIfAbsentSince("k", miss).status()).isEqualTo(Status.CONDITION_FAILED);
    }

    @Test
    void shouldTellAClearSinceFromAnAbsenceThroughout() {
        final long miss = get("k").version();
        put("k", "v", Ttl.ETERNAL);
        client.clear(cache);
        assertThat(get("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(putIfAbsentSince("k", miss).status()).isEqualTo(Status.CONDITION_FAILED);
        assertThat(client.putIfAbsent(cache, bytes("k"), bytes("again")).applied())
                .isTrue();
        assertThat(get("k").resultBytes()).isEqualTo(bytes("again"));
        reopen();
        assertThat(get("k").resultBytes()).isEqualTo(bytes("again"));
    }

    @Test
    void shouldNotTrustAMissFromBeforeARestart() {
        final long miss = get("k").version();
        put("k", "v", Ttl.ETERNAL);
        client.remove(cache, bytes("k"));
        // Many times the capacity: the removal is dropped from the logs.
        for (int i = 0; i < 10_000; i++) {
            put("other" + i % 50, "x".repeat(1000), Ttl.ETERNAL);
            clock.advanceMs(1); // runs the agents
        }
        reopen();
        assertThat(putIfAbsentSince("k", miss).status()).isEqualTo(Status.CONDITION_FAILED);
        assertThat(putIfAbsentSince("k", get("k").version()).status()).isEqualTo(Status.OK);
    }

    @Test
    void shouldRefuseADestroyedCacheAlsoAfterReopening() {
        put("k", "v", Ttl.ETERNAL);
        client.catalogue().destroy("c");
        assertThat(get("k").status()).isEqualTo(Status.UNKNOWN_CACHE);
        assertThat(put("k", "v", Ttl.ETERNAL).status()).isEqualTo(Status.UNKNOWN_CACHE);
        final int destroyed = cache;
        reopen();
        assertThat(cache).isNotEqualTo(destroyed);
        assertThat(get("k").status()).isEqualTo(Status.NOT_FOUND);
        cache = destroyed;
        assertThat(get("k").status()).isEqualTo(Status.UNKNOWN_CACHE);
        assertThat(put("k", "v", Ttl.ETERNAL).status()).isEqualTo(Status.UNKNOWN_CACHE);
    }

    @Test
    void shouldStoreNothingOfAnObjectWithoutLifetime() {
        assertThat(put("k", "v", Ttl.IMMEDIATE).has(ResultBits.BORN_EXPIRED)).isTrue();
        assertThat(get("k").status()).isEqualTo(Status.NOT_FOUND);
        put("k", "v", Ttl.ETERNAL);
        final Request update = put("k", "w", Ttl.IMMEDIATE);
        assertThat(update.has(ResultBits.BORN_EXPIRED)).isTrue();
        assertThat(update.has(ResultBits.EXISTED)).isTrue();
        reopen();
        assertThat(get("k").status()).isEqualTo(Status.NOT_FOUND);
    }
}
