package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.inspect.LiveReplicaReport;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** Primaries move between the servers of one process, while all operations go on. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class TransferTest {
    private static final int SHARDS = 6;
    private static final int KEYS = 40;

    @TempDir
    private Path dir;

    private final AtomicBoolean over = new AtomicBoolean();
    private int replicas = 3;

    @AfterEach
    void end() {
        over.set(true);
    }

    private EmbeddedCluster open() {
        return EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = 3;
            with.replicas = replicas;
            with.shards = SHARDS;
            with.workers = 2;
            with.capacityBytes = 8 << 20;
            with.maxMessage = 4096;
            with.dir = dir.resolve("store");
        }));
    }

    private static Transfer move(EmbeddedCluster cluster, int shard, int number) {
        final int[] backups = cluster.configuration().shard(shard).backups();
        return cluster.transfer(shard, backups[number % backups.length]);
    }

    private static void moveAndAwait(EmbeddedCluster cluster, int shard, int number) {
        final Transfer moving = move(cluster, shard, number);
        await().pollInterval(Duration.ofMillis(1)).until(moving::isOver);
        assertThat(moving.refusal()).isEmpty();
    }

    /** Writes its own keys in turn until the end; returns the number of each key's last value. */
    private CompletableFuture<long[]> writer(RowanClient client, int cache, String prefix) {
        return CompletableFuture.supplyAsync(() -> {
            final long[] written = new long[KEYS];
            for (int i = 0; !over.get(); i = (i + 1) % KEYS) {
                final String key = prefix + i;
                if (written[i] > 0) {
                    assertThat(numberOf(key, client.get(cache, bytes(key)))).isEqualTo(written[i]);
                }
                client.put(cache, bytes(key), value(key, ++written[i], 100));
            }
            return written;
        });
    }

    private static void requireWritten(RowanClient client, int cache, String prefix, long[] written) {
        for (int i = 0; i < KEYS; i++) {
            if (written[i] > 0) {
                assertThat(numberOf(prefix + i, client.get(cache, bytes(prefix + i))))
                        .isEqualTo(written[i]);
            }
        }
    }

    private void moveUnderLoad(EmbeddedCluster cluster, List<RowanClient> clients, Consumer<Integer> between)
            throws Exception {
        final int cache = Stores.cache(clients.get(0));
        final List<CompletableFuture<long[]>> writers = new ArrayList<>();
        for (int i = 0; i < clients.size(); i++) {
            writers.add(writer(clients.get(i), cache, "w" + i + "-"));
        }
        final long term = cluster.configuration().term();
        for (int round = 0; round < 60; round++) {
            moveAndAwait(cluster, round % SHARDS, round);
            between.accept(round);
        }
        for (int shard = 0; shard < SHARDS; shard++) {
            if (cluster.configuration().shard(shard).primary() == shard % 3) {
                moveAndAwait(cluster, shard, 0); // none is where its callers have found it first
            }
        }
        over.set(true);
        for (int i = 0; i < writers.size(); i++) {
            requireWritten(clients.get(0), cache, "w" + i + "-", writers.get(i).get(60, TimeUnit.SECONDS));
        }
        assertThat(cluster.configuration().term()).isGreaterThanOrEqualTo(term + 60);
        Stores.requireHealth(cluster);
    }

    @Test
    void shouldLoseNothingWhilePrimariesMove() throws Exception {
        final long[] written;
        try (EmbeddedCluster cluster = open()) {
            try (RowanClient one = Stores.client(cluster, 1);
                    RowanClient other = Stores.client(cluster, 2)) {
                moveUnderLoad(cluster, List.of(one, other), round -> {});
                over.set(false);
                final CompletableFuture<long[]> last = writer(one, Stores.cache(one), "last");
                for (int shard = 0; shard < SHARDS; shard++) {
                    move(cluster, shard, shard); // the close waits for them
                }
                over.set(true);
                written = last.get(60, TimeUnit.SECONDS);
            }
            Stores.requireExactSpace(cluster);
        }
        try (EmbeddedCluster cluster = open();
                RowanClient client = Stores.client(cluster)) {
            for (int shard = 0; shard < SHARDS; shard++) {
                assertThat(cluster.configuration().shard(shard).primary())
                        .as("its usual primary again")
                        .isEqualTo(shard % 3);
            }
            requireWritten(client, Stores.cache(client), "last", written);
            Stores.requireHealth(cluster);
        }
    }

    @Test
    void shouldLeadClientsOfOtherProcessesToTheNextPrimary() throws Exception {
        try (EmbeddedCluster cluster = open();
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
                RowanClient one = RowanClient.connect(ports.addresses(), NetSettings.DEFAULT);
                RowanClient other = RowanClient.connect(ports.addresses(), NetSettings.DEFAULT)) {
            moveUnderLoad(cluster, List.of(one, other), round -> {});
        }
    }

    @Test
    void shouldScanEachObjectOnceAndCompareReplicasMeanwhile() throws Exception {
        try (EmbeddedCluster cluster = open();
                RowanClient client = Stores.client(cluster, 1)) {
            final int cache = Stores.cache(client);
            final int[] ofShard = new int[SHARDS];
            for (int i = 0; i < 300; i++) {
                final byte[] key = bytes("scanned" + i);
                client.put(cache, key, value("scanned" + i, i, 50));
                final long hash = new KeyHash(cluster.configuration().hashSeed()).hash(cache, key, 0, key.length);
                ofShard[ShardMap.shardOf(hash, SHARDS)]++;
            }
            moveUnderLoad(cluster, List.of(client), round -> {
                if (round % 20 == 0) {
                    final LiveReplicaReport report = cluster.verifyReplicas();
                    assertThat(report.agrees()).as("%s", report).isTrue();
                }
                for (int shard = 0; shard < SHARDS; shard++) {
                    final Transfer moving = move(cluster, (round + 1) % SHARDS, round);
                    requireEachOnce(cluster, cache, shard, ofShard[shard]);
                    await().pollInterval(Duration.ofMillis(1)).until(moving::isOver);
                }
            });
        }
    }

    private static void requireEachOnce(EmbeddedCluster cluster, int cache, int shard, int objects) {
        final Set<String> seen = new HashSet<>();
        ScanPage page = cluster.session().scan(cache, shard, 0, 5, false);
        while (true) {
            for (ScanPage.Entry entry : page.entries()) {
                final String key = new String(entry.key(), StandardCharsets.UTF_8);
                if (key.startsWith("scanned")) {
                    assertThat(seen.add(key)).as(key).isTrue();
                }
            }
            if (page.last()) {
                break;
            }
            page = cluster.session().scan(cache, shard, page.nextPosition(), 5, false);
        }
        assertThat(seen).hasSize(objects);
    }

    @Test
    void shouldRefuseAServerWithoutAReplica() {
        replicas = 2;
        try (EmbeddedCluster cluster = open()) {
            final int other = 3
                    - cluster.configuration().shard(0).primary()
                    - cluster.configuration().shard(0).backups()[0];
            final Transfer refused = cluster.transfer(0, other);
            await().until(refused::isOver);
            assertThat(refused.refusal()).contains("server " + other + " is no complete backup");
            final Transfer toItself =
                    cluster.transfer(0, cluster.configuration().shard(0).primary());
            await().until(toItself::isOver);
            assertThat(toItself.refusal()).isEmpty();
            assertThat(cluster.configuration().shard(0).primary()).isZero();
        }
    }

    /** As another server's position, whose index has smaller buckets. */
    @Test
    void shouldContinueAScanInTheMiddleOfABucket() throws Exception {
        try (EmbeddedCluster cluster = open();
                RowanClient client = Stores.client(cluster, 1)) {
            final int cache = Stores.cache(client);
            for (int i = 0; i < 300; i++) {
                client.put(cache, bytes("k" + i), value("k" + i, i, 50));
            }
            final Server server = cluster.servers().get(0);
            final ShardReplica replica = server.replicas().get(0);
            final KeyHash hash = new KeyHash(cluster.configuration().hashSeed());
            int left = 0;
            int passed = 0;
            long begin = 0;
            do {
                final List<Long> all = new ArrayList<>();
                final long end = server.scan(
                        cache,
                        0,
                        begin,
                        false,
                        (key, value, version, expiryMs) ->
                                all.add(replica.positionOf(hash.hash(cache, key, 0, key.length))));
                final long middle = begin + ((end - begin) >>> 1);
                final List<Long> behind = new ArrayList<>();
                assertThat(server.scan(
                                cache,
                                0,
                                middle,
                                false,
                                (key, value, version, expiryMs) ->
                                        behind.add(replica.positionOf(hash.hash(cache, key, 0, key.length)))))
                        .isEqualTo(end);
                assertThat(behind)
                        .containsExactlyElementsOf(all.stream()
                                .filter(position -> Long.compareUnsigned(position, middle) >= 0)
                                .toList());
                passed += all.size() - behind.size();
                left += behind.size();
                begin = end;
            } while (begin != 0);
            assertThat(left).isPositive();
            assertThat(passed).isPositive();
        }
    }
}
