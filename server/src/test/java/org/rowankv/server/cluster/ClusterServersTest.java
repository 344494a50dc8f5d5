package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.VersionedValue;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.server.embedded.Stores;
import org.rowankv.server.engine.Server;
import org.rowankv.server.peer.ClusterCatalogue;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardAssignment;
import org.rowankv.topology.ShardMap;

/** Servers connected only by a configuration store and by TCP. */
class ClusterServersTest {
    private static final int CACHE = 1;

    @TempDir
    Path dir;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] value(int length, int number) {
        final byte[] value = new byte[length];
        Arrays.fill(value, (byte) number);
        return value;
    }

    /** Waits until every replica of every shard holds the same objects. No writer runs meanwhile. */
    static void awaitAgreement(ClusterBed bed) {
        final Configuration configuration = bed.configuration();
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final int one = shard;
            final ShardAssignment assignment = configuration.shard(shard);
            await().pollDelay(Duration.ZERO).atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
                final Map<String, String> primary = Stores.objects(bed.server(assignment.primary()), one);
                for (int backup : assignment.backups()) {
                    assertThat(Stores.objects(bed.server(backup), one))
                            .as("shard %d on server %d", one, backup)
                            .isEqualTo(primary);
                }
            });
        }
    }

    @Test
    void shouldReplicateOverTcp() {
        try (ClusterBed bed = new ClusterBed(dir, 3, 3, 8 << 20).startAll()) {
            final RowanClient client = bed.client(1);
            for (int i = 0; i < 500; i++) {
                client.put(CACHE, bytes("key" + i), value(i % 100, i));
            }
            client.put(CACHE, bytes("large"), value(50_000, 7)); // in several blocks
            for (int i = 0; i < 500; i += 3) {
                client.remove(CACHE, bytes("key" + i));
            }
            for (int i = 0; i < 500; i++) {
                assertThat(client.get(CACHE, bytes("key" + i))).isEqualTo(i % 3 == 0 ? null : value(i % 100, i));
            }
            assertThat(client.get(CACHE, bytes("large"))).isEqualTo(value(50_000, 7));
            awaitAgreement(bed);
            bed.members.forEach(member ->
                    assertThat(member.errors.distinct()).as(member.name).isEmpty());
        }
    }

    @Test
    void shouldDestroyWhatAnEarlierAttemptHasHalfDestroyed() {
        try (ClusterBed bed = new ClusterBed(dir, 3, 2, 8 << 20).startAll()) {
            final ClusterCatalogue catalogue = bed.members.get(0).catalogue;
            final int half = catalogue.create("half", new byte[0]).id();
            final RowanClient client = bed.client(1);
            for (int i = 0; i < 50; i++) {
                client.put(half, bytes("key" + i), value(i, i));
            }
            bed.members.get(0).catalogue.destroyHere(half);
            bed.members.get(2).catalogue.destroyHere(half);
            assertThat(catalogue.destroy("half")).isTrue();
            assertThat(catalogue.find("half")).isNull();
            assertThat(catalogue.create("half", new byte[0]).id()).isGreaterThan(half);
            bed.members.forEach(member ->
                    assertThat(member.errors.distinct()).as(member.name).isEmpty());
        }
    }

    @Test
    void shouldAnswerFullOnlyWhenABackupIsFull() {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 4 << 20).startAll()) {
            final RowanClient client = bed.client(2);
            int written = 0;
            Request last = put(client, written, 2000);
            while (last.status() == Status.OK) {
                written++;
                last = put(client, written, 2000);
            }
            assertThat(last.status()).isEqualTo(Status.FULL);
            long least = Long.MAX_VALUE;
            for (int server = 0; server < 2; server++) {
                least = Math.min(least, bed.server(server).segments().space().available());
            }
            // Some server has less left than workers may have reserved again since they released it.
            assertThat(least).isLessThan((ClusterBed.WORKERS + 1) * 3 * (32 << 10));
            for (int i = 0; i < written; i++) {
                assertThat(client.get(CACHE, bytes("key" + i))).isEqualTo(value(2000, i));
            }
            // The freed space is usable again.
            for (int i = 0; i < written / 2; i++) {
                client.remove(CACHE, bytes("key" + i));
            }
            for (int i = 0; i < written / 4; i++) {
                assertThat(put(client, i, 2000).status()).isEqualTo(Status.OK);
            }
            awaitAgreement(bed);
        }
    }

    private static Request put(RowanClient client, int number, int length) {
        final byte[] key = bytes("key" + number);
        final byte[] value = value(length, number);
        final Request request = new Request().put(CACHE, key, 0, key.length, value, 0, value.length);
        client.execute(request);
        return request;
    }

    /** Counters that several callers increment by compare-and-set: lost or doubled updates show in their sums. */
    static final class Counters {
        private static final int KEYS = 8;

        private final AtomicBoolean stopping = new AtomicBoolean();
        private final AtomicInteger raised = new AtomicInteger();
        private final AtomicInteger unknown = new AtomicInteger();
        private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        private final List<Thread> callers = new ArrayList<>();

        void begin(ClusterBed bed, int count) {
            for (int caller = 0; caller < count; caller++) {
                final RowanClient client = bed.client(100 + caller);
                final int from = caller;
                final Thread thread = new Thread(() -> raise(client, from));
                thread.setUncaughtExceptionHandler((unused, failure) -> failures.add(failure));
                callers.add(thread);
                thread.start();
            }
        }

        private void raise(RowanClient client, int from) {
            for (int i = from; !stopping.get(); i++) {
                final byte[] key = bytes("counter" + i % KEYS);
                final VersionedValue found = client.getVersioned(CACHE, key);
                final int number =
                        found.value() == null ? 0 : Integer.parseInt(new String(found.value(), StandardCharsets.UTF_8));
                final byte[] next = bytes(Integer.toString(number + 1));
                final Request request = new Request().put(CACHE, key, 0, key.length, next, 0, next.length);
                if (found.value() == null) {
                    request.when(org.rowankv.protocol.Condition.IF_ABSENT);
                } else {
                    request.when(org.rowankv.protocol.Condition.IF_VERSION, found.version());
                }
                client.execute(request);
                if (request.status() == Status.OK) {
                    raised.incrementAndGet();
                } else if (request.status() == Status.OUTCOME_UNKNOWN) {
                    unknown.incrementAndGet();
                }
            }
        }

        int raised() {
            return raised.get();
        }

        void awaitMore(int count) {
            final int enough = raised.get() + count;
            await().pollInterval(Duration.ofMillis(10))
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> raised.get() >= enough || !failures.isEmpty());
            assertThat(failures).isEmpty();
        }

        void end(RowanClient client) throws InterruptedException {
            stopping.set(true);
            for (Thread caller : callers) {
                caller.join(60_000);
                assertThat(caller.isAlive()).isFalse();
            }
            assertThat(failures).isEmpty();
            int sum = 0;
            for (int i = 0; i < KEYS; i++) {
                final byte[] found = client.get(CACHE, bytes("counter" + i));
                sum += found == null ? 0 : Integer.parseInt(new String(found, StandardCharsets.UTF_8));
            }
            assertThat(sum).isBetween(raised.get(), raised.get() + unknown.get());
            assertThat(unknown).hasValue(0);
        }
    }

    @Test
    void shouldLoseAndDoubleNothingWhenConnectionsAreCut() throws InterruptedException {
        try (ClusterBed bed = new ClusterBed(dir, 3, 3, 8 << 20).startAll()) {
            final Counters counters = new Counters();
            counters.begin(bed, 3);
            int cut = 0;
            for (int round = 0; round < 12; round++) {
                counters.awaitMore(40);
                final TcpProxy proxy = bed.members.get(round % 3).proxy;
                proxy.refuse(round % 4 == 0);
                cut += proxy.cut();
                if (round % 4 == 0) {
                    LockSupport.parkNanos(20_000_000);
                    proxy.refuse(false);
                }
            }
            counters.awaitMore(40);
            counters.end(bed.client(9));
            assertThat(cut).isGreaterThan(12);
            awaitAgreement(bed);
            long reconnects = 0;
            for (int server = 0; server < 3; server++) {
                reconnects += bed.server(server).statistics().reconnects();
            }
            assertThat(reconnects).isGreaterThan(0);
        }
    }

    @Test
    void shouldStartTogetherAgainWhenOneHasStartedAnew() throws InterruptedException {
        try (ClusterBed bed = new ClusterBed(dir, 3, 2, 8 << 20).startAll()) {
            final Counters counters = new Counters();
            counters.begin(bed, 3);
            final long before = bed.configuration().term();
            for (int round = 0; round < 3; round++) {
                counters.awaitMore(30);
                bed.members.get(round).stop();
                bed.members.get(round).start();
                bed.awaitServing();
            }
            counters.awaitMore(30);
            counters.end(bed.client(9));
            assertThat(bed.configuration().term()).isGreaterThanOrEqualTo(before + 3);
            awaitAgreement(bed);
        }
    }

    @Test
    void shouldFindEverythingAfterAllWereStopped() {
        try (ClusterBed bed = new ClusterBed(dir, 3, 2, 8 << 20).startAll()) {
            final RowanClient client = bed.client(1);
            for (int i = 0; i < 300; i++) {
                client.put(CACHE, bytes("key" + i), value(100, i));
            }
            final Configuration first = bed.configuration();
            bed.stopAll();
            bed.members.get(2).start();
            bed.members.get(0).start();
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> bed.members.get(0).server.saying().contains("waiting for server b"));
            assertThat(bed.members.get(0).server.server()).isNull();
            bed.members.get(1).start();
            bed.awaitServing();
            final Configuration second = bed.configuration();
            assertThat(second.term()).isGreaterThan(first.term());
            for (int shard = 0; shard < second.shardCount(); shard++) {
                assertThat(second.shard(shard).epoch())
                        .isGreaterThan(first.shard(shard).epoch());
                assertThat(second.shard(shard).primary())
                        .isEqualTo(first.shard(shard).primary());
            }
            final RowanClient again = bed.client(2);
            for (int i = 0; i < 300; i++) {
                assertThat(again.get(CACHE, bytes("key" + i))).isEqualTo(value(100, i));
            }
            awaitAgreement(bed);
            for (int server = 0; server < 3; server++) {
                final Server one = bed.server(server);
                assertThat(one.segments().area().superblock().term()).isEqualTo(second.term());
            }
        }
    }

    /** Nothing starts anew: the manager gives the shards larger epochs. */
    @Test
    void shouldGoOnInLargerEpochsWhenVersionsComeToTheirEnd() {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 8 << 20)
                .withFirstRoles(with -> with.counters = CounterStarts.nearEnds(10))
                .startAll()) {
            final RowanClient client = bed.client(1);
            // The epochs may be larger already: they are requested at once.
            final Configuration first = bed.firstServed();
            final Map<Integer, Long> newest = new HashMap<>();
            for (int i = 0; i < 400; i++) {
                final byte[] key = bytes("key" + i % 100);
                final long version = client.put(CACHE, key, value(20, i)).version();
                final long hash = new KeyHash(first.hashSeed()).hash(CACHE, key, 0, key.length);
                final int shard = ShardMap.shardOf(hash, first.shardCount());
                assertThat(version).isGreaterThan(newest.getOrDefault(shard, 0L));
                newest.put(shard, version);
            }
            bed.awaitServing();
            assertThat(bed.configuration().term()).isGreaterThan(first.term());
            assertThat(bed.configuration().startTerm()).isEqualTo(first.startTerm());
            newest.forEach((shard, version) -> assertThat(Version.epoch(version))
                    .as("epoch of shard %d, %s its end", shard, shard % 2 == 0 ? "before" : "at")
                    .isGreaterThanOrEqualTo(first.shard(shard).epoch() + shard % 2));
            for (int i = 300; i < 400; i++) {
                assertThat(client.get(CACHE, bytes("key" + i % 100))).isEqualTo(value(20, i));
            }
            awaitAgreement(bed);
        }
    }
}
