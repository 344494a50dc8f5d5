package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.ValidatedValue;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.TestScale;
import org.rowankv.server.engine.Server;
import org.rowankv.server.index.ShardIndex;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/** Values that were kept are current exactly as long as a read of the store would return them. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ValidatedValueTest {
    private static final long MINUTE_MS = 60_000;
    private static final int LOCK_OWNER = 1 << 22;

    private final WallClock clock = new WallClock();
    private EmbeddedCluster cluster;
    private RowanClient client;
    private int cache;

    private void open(Consumer<EmbeddedSettings.Builder> more) {
        cluster = EmbeddedCluster.open(
                EmbeddedSettings.of(more.andThen(with -> with.workers = 4)), clock, new SplittableRandomSource(1));
        client = new RowanClient(cluster.session(), clock, new SplittableRandomSource(2));
        cache = client.catalogue().create("c", new byte[0]).id();
    }

    private void open(int servers, int replicas) {
        open(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.shards = 2 * servers;
            with.capacityBytes = 4 << 20;
        });
    }

    @AfterEach
    void close() {
        client.close();
        cluster.close();
    }

    private Request read(String key) {
        final Request read =
                new Request().get(cache, bytes(key), 0, key.length()).requestLocation(true);
        client.execute(read);
        return read;
    }

    /** The key's value, kept; null if there is none. */
    private ValidatedValue<byte[]> keep(String key) {
        final Request read = read(key);
        return read.status() == Status.OK ? client.validated(read, read.resultBytes(), 100) : null;
    }

    private ValidatedValue<byte[]> putAndKeep(String key, long ttlMs) {
        final byte[] value = bytes("value of " + key);
        final Request put = new Request()
                .put(cache, bytes(key), 0, key.length(), value, 0, value.length)
                .ttl(ttlMs, ttlMs);
        client.execute(put);
        final ValidatedValue<byte[]> kept = keep(key);
        assertThat(kept.ifCurrent()).isEqualTo(value);
        return kept;
    }

    @Test
    void shouldBeCurrentUntilTheKeyChanges() {
        open(3, 3);
        final ValidatedValue<byte[]> kept = putAndKeep("k", Ttl.ETERNAL);
        final long version = read("k").version();
        assertThat(kept.objectVersion()).isEqualTo(version);
        assertThat(kept.ofVersion(version)).isEqualTo(bytes("value of k"));
        assertThat(kept.ofVersion(version + 1)).isNull();
        assertThat(kept.bytes()).isEqualTo(100);

        client.put(cache, bytes("other"), bytes("x"));
        assertThat(client.putIfAbsent(cache, bytes("k"), bytes("x")).applied()).isFalse();
        assertThat(kept.ifCurrent()).isNotNull();

        client.put(cache, bytes("k"), bytes("value of k")); // the same bytes are another object
        assertThat(kept.ifCurrent()).isNull();
        final ValidatedValue<byte[]> again = keep("k");
        assertThat(again.ifCurrent()).isEqualTo(bytes("value of k"));
        client.remove(cache, bytes("k"));
        assertThat(again.ifCurrent()).isNull();
        client.put(cache, bytes("k"), bytes("value of k"));
        assertThat(again.ifCurrent()).isNull();
    }

    @Test
    void shouldKeepNothingOfAMissAndNothingThatAnAccessProlongsAndNothingUnasked() {
        open(1, 1);
        assertThat(client.validated(read("k"), bytes("v"), 1)).isNull();
        client.put(cache, bytes("k"), bytes("v"));
        final Request unasked = new Request().get(cache, bytes("k"), 0, 1);
        client.execute(unasked);
        assertThat(unasked.status()).isEqualTo(Status.OK);
        assertThat(client.validated(unasked, bytes("v"), 1)).isNull();
        final Request touching =
                new Request().get(cache, bytes("k"), 0, 1).accessTtl(MINUTE_MS).requestLocation(true);
        client.execute(touching);
        assertThat(touching.status()).isEqualTo(Status.OK);
        assertThat(client.validated(touching, bytes("v"), 1)).isNull();
        final Request put =
                new Request().put(cache, bytes("k"), 0, 1, bytes("w"), 0, 1).requestLocation(true);
        client.execute(put);
        assertThat(client.validated(put, bytes("w"), 1)).isNull();
    }

    @Test
    void shouldNotBeCurrentAfterATouch() {
        open(1, 1);
        final ValidatedValue<byte[]> kept = putAndKeep("k", MINUTE_MS);
        client.execute(new Request().touch(cache, bytes("k"), 0, 1, kept.objectVersion(), 10 * MINUTE_MS));
        assertThat(kept.ifCurrent()).isNull();
        assertThat(kept.ofVersion(read("k").version())).isNotNull(); // the same object
        final ValidatedValue<byte[]> touched = keep("k");
        clock.jump(5 * MINUTE_MS);
        assertThat(touched.ifCurrent()).isNotNull();
        client.clear(cache);
        assertThat(touched.ifCurrent()).isNull();
    }

    @Test
    void shouldNotBeCurrentAfterItsLifetime() {
        open(1, 1);
        final ValidatedValue<byte[]> kept = putAndKeep("k", MINUTE_MS);
        clock.jump(MINUTE_MS - 1);
        assertThat(kept.ifCurrent()).isNotNull();
        clock.jump(1);
        assertThat(kept.ifCurrent()).isNull();
        assertThat(read("k").status()).isEqualTo(Status.NOT_FOUND);
        clock.jump(-MINUTE_MS);
        assertThat(kept.ifCurrent()).isNull();
    }

    @Test
    void shouldNotBeCurrentAfterAClear() {
        open(3, 3);
        final List<ValidatedValue<byte[]>> kept = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            kept.add(putAndKeep("k" + i, Ttl.ETERNAL));
        }
        final List<ShardIndex> indexes = cluster.servers().stream()
                .flatMap(server -> server.replicas().all().stream().map(ShardReplica::index))
                .toList();
        indexes.forEach(index -> index.lock(LOCK_OWNER)); // the sweep removes nothing yet
        try {
            client.clear(cache);
            assertThat(kept).allMatch(each -> each.ifCurrent() == null);
        } finally {
            indexes.forEach(ShardIndex::unlock);
        }
        final ValidatedValue<byte[]> later = putAndKeep("k", Ttl.ETERNAL);
        assertThat(client.catalogue().destroy("c")).isTrue();
        assertThat(later.ifCurrent()).isNull();
        assertThat(read("k").status()).isEqualTo(Status.UNKNOWN_CACHE);
    }

    @Test
    void shouldNotBeCurrentInAClosedStore() {
        open(1, 1);
        final ValidatedValue<byte[]> kept = putAndKeep("k", Ttl.ETERNAL);
        cluster.close();
        assertThat(kept.ifCurrent()).isNull();
    }

    @Test
    void shouldNotBeCurrentOnceItsEntryIsLost() {
        open(1, 1);
        final ValidatedValue<byte[]> kept = putAndKeep("k", Ttl.ETERNAL);
        final Request read = read("k");
        final Segments segments = cluster.servers().get(0).segments();
        segments.damage().lost(read.foundAddress(), segments.generation(segments.segmentOf(read.foundAddress())));
        assertThat(kept.ifCurrent()).isNull();
        assertThat(read("k").status()).isEqualTo(Status.CORRUPTED);
    }

    @Test
    void shouldCountAsAUseWhereTheCacheHasALimit() {
        open(1, 1);
        assertThat(client.catalogue().limit("c", new CacheLimit(1000, 0))).isTrue();
        final ValidatedValue<byte[]> kept = putAndKeep("k", Ttl.ETERNAL);
        final Request read = read("k");
        final Server server = cluster.servers().get(0);
        final ShardReplica replica = server.replicas().get(read.shard());
        final long position = replica.positionOf(read.hash());
        replica.index().marks().unmark(position, read.foundAddress());
        assertThat(kept.ifCurrent()).isNotNull();
        assertThat(replica.index().marks().isMarked(position, read.foundAddress()))
                .isTrue();
    }

    /** Addresses are used again and again, also by the same key: what was kept at first must not come true again. */
    @Test
    void shouldNeverComeTrueAgainWhereAddressesAreReused() {
        open(with -> {
            with.servers = 1;
            with.shards = 1;
            with.capacityBytes = 2 << 20;
            with.segmentBytes = 64 << 10;
        });
        final int keys = 64;
        final int length = 4_000;
        final List<ValidatedValue<byte[]>> first = new ArrayList<>();
        final long[] newest = new long[keys];
        for (int k = 0; k < keys; k++) {
            client.put(cache, bytes("k" + k), value("k" + k, 1, length));
            newest[k] = 1;
            first.add(keep("k" + k));
        }
        final Random random = new Random(5);
        for (long i = 2; i < TestScale.of(40_000, 400_000); i++) {
            final int k = random.nextInt(keys);
            client.put(cache, bytes("k" + k), value("k" + k, i, length));
            newest[k] = i;
            final byte[] kept = first.get(k).ifCurrent();
            assertThat(kept == null ? i : numberOf("k" + k, kept))
                    .as("key %d after %d puts", k, i)
                    .isEqualTo(i);
        }
        for (int k = 0; k < keys; k++) {
            assertThat(keep("k" + k).ifCurrent()).isEqualTo(value("k" + k, newest[k], length));
        }
        Stores.requireHealth(cluster);
    }

    /** Readers keep what they read, and compare with what was acknowledged before they asked. */
    @Test
    void shouldNeverReturnLessThanWasAcknowledged() throws Exception {
        open(with -> {
            with.servers = 1;
            with.shards = 2;
            with.capacityBytes = 4 << 20;
            with.segmentBytes = 64 << 10;
        });
        final int keys = 40;
        final AtomicLongArray acknowledged = new AtomicLongArray(keys);
        final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        final AtomicLong hits = new AtomicLong();
        final AtomicLong stale = new AtomicLong();
        final AtomicLong over = new AtomicLong();
        final List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 2; t++) {
            final int from = t;
            threads.add(new Thread(() -> {
                final Random random = new Random(from);
                for (long i = 1; i <= TestScale.of(30_000, 500_000); i++) {
                    final int k = 2 * random.nextInt(keys / 2) + from;
                    client.put(cache, bytes("k" + k), value("k" + k, i, 500 + random.nextInt(500)));
                    acknowledged.set(k, i);
                }
                over.incrementAndGet();
            }));
        }
        for (int t = 0; t < 2; t++) {
            final int seed = t;
            threads.add(new Thread(() -> {
                final Random random = new Random(seed);
                final List<ValidatedValue<byte[]>> kept = new ArrayList<>();
                for (int k = 0; k < keys; k++) {
                    kept.add(null);
                }
                final long[] seen = new long[keys];
                while (over.get() < 2) {
                    final int k = random.nextInt(keys);
                    final long least = Math.max(seen[k], acknowledged.get(k));
                    final byte[] current =
                            kept.get(k) == null ? null : kept.get(k).ifCurrent();
                    final long number;
                    if (current != null) {
                        hits.incrementAndGet();
                        number = numberOf("k" + k, current);
                    } else {
                        stale.incrementAndGet();
                        kept.set(k, keep("k" + k));
                        number = least;
                    }
                    if (number < least) {
                        wrong.add("k" + k + ": " + number + " after " + least);
                    }
                    seen[k] = number;
                }
            }));
        }
        threads.forEach(thread -> thread.setUncaughtExceptionHandler((at, failure) -> wrong.add(failure.toString())));
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(wrong).isEmpty();
        assertThat(hits.get()).isPositive();
        assertThat(stale.get()).isGreaterThan(keys);
        Stores.requireHealth(cluster);
    }
}
