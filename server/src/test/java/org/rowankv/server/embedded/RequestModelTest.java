package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.ScanCursor;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.TestScale;
import org.rowankv.server.retention.ExpirySweepAgent;

/**
 * Random requests of every kind against a model, with a clock that jumps both ways, and with the store closed and
 * reopened.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class RequestModelTest {
    private static final long[] TTLS = {Ttl.ETERNAL, Ttl.UNCHANGED, Ttl.IMMEDIATE, 40, 400};
    private static final int KEYS = 12;
    private static final int HOUR_MS = 3_600_000;

    @TempDir
    private Path dir;

    private final ManualClock clock = new ManualClock(5_000_000_000L, 1_700_000_000_000L);
    private final ModelCache model = new ModelCache(clock);
    private final Map<String, long[]> tokens = new HashMap<>();
    private Random random = new Random(0);
    private @Nullable EmbeddedCluster cluster;
    private @Nullable RowanClient client;
    private int cache;
    private int sweeps;

    @ParameterizedTest
    @CsvSource({"1,1,1", "1,1,2", "3,1,3", "3,3,4", "3,3,5"})
    void shouldAnswerEveryRequestAsTheModelDoes(int servers, int replicas, long seed) {
        random = new Random(seed);
        run(servers, replicas, TestScale.of(10_000, 20_000), () -> {});
    }

    /** The sweep ends expired objects during requests, and no others, whichever way the clock jumps. */
    @ParameterizedTest
    @CsvSource({"1,1,6", "3,2,7", "3,3,8"})
    void shouldAnswerAsTheModelDoesWhileTheClockJumpsByHours(int servers, int replicas, long seed) {
        random = new Random(seed);
        run(servers, replicas, TestScale.of(5_000, 10_000), this::jump);
        assertThat(sweeps).isPositive();
    }

    private void jump() {
        if (random.nextInt(100) == 0) {
            skew(HOUR_MS * (random.nextInt(3) - 1));
            if (random.nextInt(3) == 0) {
                requireSweep();
            }
        }
    }

    /** A pass of the sweep takes its time at its begin: when the clock is set back, none goes on with a later one. */
    private void skew(long ms) {
        model.clockMoved();
        clock.skew(ms);
        model.clockMoved();
        if (ms < 0) {
            await().atMost(Duration.ofSeconds(30))
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> cluster.servers().stream()
                            .allMatch(server ->
                                    server.retentionAgents().expirySweep().isIdle()));
        }
    }

    private void requireSweep() {
        final Set<String> over = new HashSet<>();
        model.objects.forEach((key, object) -> {
            if (object.isOver(clock.wallMs() - ExpirySweepAgent.GRACE_MS)) {
                over.add(key);
            }
        });
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(1))
                .until(() -> {
                    clock.advanceMs(100); // runs the agents
                    return !holdsAnyOf(over);
                });
        model.clockMoved();
        model.swept(over);
        sweeps += over.size();
    }

    private boolean holdsAnyOf(Set<String> keys) {
        for (int shard = 0; shard < cluster.configuration().shardCount(); shard++) {
            final int primary = cluster.configuration().shard(shard).primary();
            final Set<String> held =
                    Stores.objects(cluster.servers().get(primary), shard).keySet();
            if (keys.stream().anyMatch(key -> held.contains(cache + ":" + key))) {
                return true;
            }
        }
        return false;
    }

    private void run(int servers, int replicas, int requests, Runnable disturbance) {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.dir = dir;
            with.shards = servers;
            with.workers = 4;
            with.capacityBytes = 4 << 20;
            with.maxMessage = 1024;
        });
        open(settings);
        for (int i = 0; i < requests; i++) {
            switch (random.nextInt(1000)) {
                case 0 -> {
                    cluster.close();
                    model.reopened();
                    open(settings);
                }
                case 1, 2, 3 -> {
                    client.clear(cache);
                    model.clear();
                }
                case 4, 5 -> requireScan();
                default -> request();
            }
            if (random.nextInt(8) == 0) {
                clock.advanceMs(random.nextInt(60));
            }
            if (random.nextInt(50) == 0) {
                skew(random.nextInt(400) - 200);
            }
            model.clockMoved();
            disturbance.run();
        }
        requireScan();
        Stores.requireHealth(cluster);
        cluster.close();
    }

    private void open(EmbeddedSettings settings) {
        cluster = EmbeddedCluster.open(settings, clock, new SplittableRandomSource(random.nextLong()));
        client = new RowanClient(cluster.session(), clock, new SplittableRandomSource(random.nextLong()));
        cache = Stores.cache(client);
    }

    private long ttl() {
        return TTLS[random.nextInt(TTLS.length)];
    }

    private void request() {
        final String key = "key" + random.nextInt(KEYS);
        final byte[] bytes = bytes(key);
        final Request request = new Request();
        switch (random.nextInt(6)) {
            case 0 -> request.get(cache, bytes, 0, bytes.length).requestValue(random.nextBoolean());
            case 1, 2, 3 -> {
                final byte[] value = new byte[random.nextInt(40) == 0 ? random.nextInt(9000) : random.nextInt(300)];
                random.nextBytes(value);
                final int from = random.nextInt(value.length + 1);
                request.put(cache, bytes, 0, bytes.length, value, from, value.length - from)
                        .ttl(ttl(), ttl())
                        .requestValue(random.nextBoolean());
            }
            case 4 -> request.delete(cache, bytes, 0, bytes.length).requestValue(random.nextBoolean());
            default ->
                request.touch(cache, bytes, 0, bytes.length, model.someVersion(key, random.nextInt(4) != 0), ttl());
        }
        long since = 0;
        switch (request.operation()) {
            case PUT, DELETE -> {
                final Condition condition = Condition.values()[random.nextInt(Condition.values().length)];
                if (condition == Condition.IF_ABSENT_SINCE) {
                    final long[] token = tokens.getOrDefault(key, new long[2]);
                    since = token[1];
                    request.when(condition, token[0]);
                } else {
                    request.when(condition, model.someVersion(key, random.nextInt(4) != 0));
                }
                request.accessTtl(ttl());
            }
            case GET -> request.accessTtl(random.nextBoolean() ? Ttl.UNCHANGED : ttl());
            default -> {}
        }
        client.execute(request);
        model.check(key, request, since);
        if (request.operation() == org.rowankv.protocol.Operation.GET && request.status() == Status.NOT_FOUND) {
            tokens.put(key, new long[] {request.version(), model.now()});
        }
    }

    private void requireScan() {
        final Set<String> expected = new HashSet<>();
        model.objects.forEach((key, object) -> {
            if (!object.isOver(clock.wallMs())) {
                expected.add(key);
            }
        });
        final Set<String> found = new HashSet<>();
        for (ScanCursor cursor = client.scan(cache, true); cursor.hasNext(); ) {
            final var entry = cursor.next();
            final String key = new String(entry.key(), java.nio.charset.StandardCharsets.UTF_8);
            assertThat(found.add(key)).as("%s twice", key).isTrue();
            assertThat(entry.value()).isEqualTo(model.objects.get(key).value());
            assertThat(entry.version()).isEqualTo(model.objects.get(key).version());
        }
        assertThat(expected).containsAll(found);
        expected.removeIf(model::maybeSwept);
        assertThat(found).containsAll(expected);
    }
}
