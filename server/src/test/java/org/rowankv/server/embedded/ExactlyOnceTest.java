package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** A repeated request, in any situation, is applied once and answered as the first time. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ExactlyOnceTest {
    private static final long SESSION = 77;
    private static final long OTHER_SESSION = SESSION + 1;

    private EmbeddedCluster cluster;
    private RowanClient client;
    private int cache;

    private void open(int servers, int replicas) {
        cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.shards = servers;
            with.workers = 4;
            with.capacityBytes = 3 << 20;
            with.maxMessage = 2048;
        }));
        client = Stores.client(cluster);
        cache = Stores.cache(client);
        for (int shard = 0; shard < servers; shard++) {
            for (long session = SESSION; session <= OTHER_SESSION; session++) {
                assertThat(Stores.openSession(cluster, shard, session).status()).isEqualTo(Status.OK);
            }
        }
    }

    @AfterEach
    void close() {
        Stores.requireHealth(cluster);
        cluster.close();
    }

    private Request deliver(Request request, long sequence) {
        return deliver(SESSION, request, sequence);
    }

    private Request deliver(long session, Request request, long sequence) {
        final KeyHash keyHash = new KeyHash(cluster.configuration().hashSeed());
        final long hash = keyHash.hash(request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
        request.placed(hash, ShardMap.shardOf(hash, cluster.configuration().shardCount()));
        request.identified(session, sequence, 0);
        cluster.session().call(request);
        return request;
    }

    private Request put(String key, long number, int length) {
        final byte[] value = value(key, number, length);
        return new Request().put(cache, bytes(key), 0, key.length(), value, 0, value.length);
    }

    private Request delete(String key) {
        return new Request().delete(cache, bytes(key), 0, key.length());
    }

    private static void requireReplay(Request first, Request again) {
        assertThat(again.status()).isEqualTo(first.status());
        assertThat(again.version()).isEqualTo(first.version());
        assertThat(again.previousVersion()).isEqualTo(first.previousVersion());
        assertThat(again.bits()).isEqualTo(first.bits() | ResultBits.REPLAYED);
        assertThat(again.resultBytes()).isEqualTo(first.resultBytes());
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,1", "3,3"})
    void shouldApplyEachOperationOnce(int servers, int replicas) {
        open(servers, replicas);
        long sequence = 0;
        for (int i = 0; i < 40; i++) {
            final String key = "k" + i;
            final Request put = deliver(put(key, 1, 100), ++sequence);
            assertThat(put.has(ResultBits.CREATED)).isTrue();
            requireReplay(put, deliver(put(key, 1, 100), sequence));
            final Request getAndPut = deliver(put(key, 2, 6000).requestValue(true), ++sequence);
            assertThat(numberOf(key, getAndPut.resultBytes())).isEqualTo(1);
            requireReplay(getAndPut, deliver(put(key, 2, 6000).requestValue(true), sequence));
            final Request replace =
                    deliver(put(key, 3, 10).when(Condition.IF_VERSION, getAndPut.version()), ++sequence);
            assertThat(replace.status()).isEqualTo(Status.OK);
            requireReplay(replace, deliver(put(key, 3, 10).when(Condition.IF_VERSION, getAndPut.version()), sequence));
            final Request touch = deliver(
                    new Request().touch(cache, bytes(key), 0, key.length(), replace.version(), 1_000_000), ++sequence);
            requireReplay(
                    touch,
                    deliver(
                            new Request().touch(cache, bytes(key), 0, key.length(), replace.version(), 1_000_000),
                            sequence));
            final Request remove = deliver(delete(key).requestValue(true), ++sequence);
            assertThat(numberOf(key, remove.resultBytes())).isEqualTo(3);
            requireReplay(remove, deliver(delete(key).requestValue(true), sequence));
            assertThat(client.get(cache, bytes(key))).isNull();
        }
    }

    @Test
    void shouldApplyARequestThatComesFromManyThreadsOnce() throws Exception {
        open(3, 3);
        final int threads = 4;
        for (int round = 0; round < 200; round++) {
            final int sequence = round + 1;
            final CyclicBarrier start = new CyclicBarrier(threads);
            final List<Request> answers = new ArrayList<>();
            final List<Thread> callers = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                final Request request = put("k", sequence, 300).requestValue(true);
                answers.add(request);
                final Thread caller = new Thread(() -> {
                    try {
                        start.await();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                    deliver(request, sequence);
                });
                caller.start();
                callers.add(caller);
            }
            for (Thread caller : callers) {
                caller.join();
            }
            assertThat(answers)
                    .extracting(Request::version)
                    .containsOnly(answers.get(0).version());
            assertThat(answers)
                    .extracting(Request::previousVersion)
                    .containsOnly(answers.get(0).previousVersion());
            assertThat(answers.stream()
                            .filter(answer -> !answer.has(ResultBits.REPLAYED))
                            .count())
                    .isEqualTo(1);
            if (round > 0) {
                assertThat(answers)
                        .allSatisfy(answer ->
                                assertThat(numberOf("k", answer.resultBytes())).isEqualTo(sequence - 1));
            }
        }
    }

    @Test
    void shouldNotUndoWhatOthersDidSince() {
        open(3, 3);
        final Request first = deliver(put("k", 1, 50), 1);
        client.put(cache, bytes("k"), value("k", 2, 50));
        requireReplay(first, deliver(put("k", 1, 50), 1));
        assertThat(numberOf("k", client.get(cache, bytes("k")))).isEqualTo(2);
        client.remove(cache, bytes("k"));
        requireReplay(first, deliver(put("k", 1, 50), 1));
        assertThat(client.get(cache, bytes("k"))).isNull();
        client.clear(cache);
        requireReplay(first, deliver(put("k", 1, 50), 1));
        assertThat(client.get(cache, bytes("k"))).isNull();
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 5000})
    void shouldRememberAnAnswerWhoseEntryWasCleanedAway(int length) {
        open(3, 3);
        deliver(put("k", 1, length), 1);
        final Request getAndPut = deliver(put("k", 2, length).requestValue(true), 2);
        deliver(OTHER_SESSION, put("r", 1, length), 1);
        final Request getAndRemove = deliver(OTHER_SESSION, delete("r").requestValue(true), 2);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 8_000; i++) {
                final String key = i % 100 == 0 ? "k" : "other" + i % 97;
                client.put(cache, bytes(key), value(key, i, 1000));
            }
            assertThat(cluster.statistics())
                    .allSatisfy(statistics -> assertThat(statistics.cleanedSegments())
                            .isGreaterThan(statistics.segments().total()));
            final Request again = deliver(put("k", 2, length).requestValue(true), 2);
            requireReplay(getAndPut, again);
            assertThat(numberOf("k", again.resultBytes())).isEqualTo(1);
            final Request removedAgain = deliver(OTHER_SESSION, delete("r").requestValue(true), 2);
            requireReplay(getAndRemove, removedAgain);
            assertThat(numberOf("r", removedAgain.resultBytes())).isEqualTo(1);
        }
        assertThat(numberOf("k", client.get(cache, bytes("k")))).isEqualTo(7_900);
    }

    @Test
    void shouldApplyNothingForAClosedSession() {
        open(3, 3);
        deliver(put("k", 1, 50), 1);
        final Request close = new Request();
        for (int shard = 0; shard < 3; shard++) {
            cluster.session().call(close.closeSession(shard, SESSION));
            cluster.session().call(close.closeSession(shard, SESSION));
        }
        client.remove(cache, bytes("k"));
        assertThat(deliver(put("k", 1, 50), 1).status()).isEqualTo(Status.SESSION_EXPIRED);
        assertThat(deliver(put("k", 2, 50), 2).status()).isEqualTo(Status.SESSION_EXPIRED);
        assertThat(client.get(cache, bytes("k"))).isNull();
    }

    @Test
    void shouldApplyNothingForLateCopiesOfAClosedSession() {
        open(3, 3);
        final Request first = deliver(put("k", 1, 50), 1);
        final Request late = new Request();
        cluster.session().call(late.closeSession(first.shard(), SESSION));
        client.put(cache, bytes("k"), value("k", 2, 50));
        assertThat(Stores.openSession(cluster, first.shard(), SESSION).status()).isEqualTo(Status.SESSION_EXPIRED);
        assertThat(deliver(put("k", 1, 50), 1).status()).isEqualTo(Status.SESSION_EXPIRED);
        assertThat(numberOf("k", client.get(cache, bytes("k")))).isEqualTo(2);
    }

    /** However many sessions of the shard were closed since: no applied mutation is applied again. */
    @ParameterizedTest
    @ValueSource(ints = {0, 65, 2000})
    void shouldApplyNothingForLateCopiesOfAnOpeningAndItsMutations(int closedSince) {
        open(3, 3);
        final long late = 4711;
        final KeyHash keyHash = new KeyHash(cluster.configuration().hashSeed());
        final int shard = ShardMap.shardOf(keyHash.hash(cache, bytes("k"), 0, 1), 3);
        final Request opening = new Request();
        cluster.session().call(opening.openSession(shard, late, 0));
        final long asOf = opening.version();
        cluster.session().call(opening.openSession(shard, late, asOf));
        assertThat(opening.status()).isEqualTo(Status.OK);
        assertThat(deliver(late, put("k", 1, 50), 1).status()).isEqualTo(Status.OK);
        cluster.session().call(new Request().closeSession(shard, late));
        client.put(cache, bytes("k"), value("k", 2, 50));
        long newest = opening.version();
        for (int i = 0; i < closedSince; i++) {
            final Request other = new Request();
            cluster.session().call(other.openSession(shard, 1_000_000L + i, newest));
            if (other.status() == Status.SESSION_EXPIRED) { // others of its table were closed since
                cluster.session().call(other.openSession(shard, 1_000_000L + i, other.version()));
            }
            assertThat(other.status()).isEqualTo(Status.OK);
            newest = other.version();
            cluster.session().call(other.closeSession(shard, 1_000_000L + i));
        }

        cluster.session().call(opening.openSession(shard, late, asOf));
        assertThat(opening.status()).isEqualTo(Status.SESSION_EXPIRED);
        assertThat(deliver(late, put("k", 1, 50), 1).status()).isEqualTo(Status.SESSION_EXPIRED);
        assertThat(numberOf("k", client.get(cache, bytes("k")))).isEqualTo(2);
    }

    /** The same for copies of a second opening that found the session open: its version is newer than the session. */
    @Test
    void shouldApplyNothingForLateCopiesOfAnOpeningThatFoundTheSessionOpen() {
        open(3, 3);
        final long late = 4711;
        final KeyHash keyHash = new KeyHash(cluster.configuration().hashSeed());
        final int shard = ShardMap.shardOf(keyHash.hash(cache, bytes("k"), 0, 1), 3);
        final Request opening = Stores.openSession(cluster, shard, late);
        assertThat(opening.status()).isEqualTo(Status.OK);
        cluster.session().call(opening.openSession(shard, 4712, opening.version()));
        final long asOf = opening.version();
        cluster.session().call(opening.openSession(shard, late, asOf));
        assertThat(opening.status()).isEqualTo(Status.OK);
        assertThat(deliver(late, put("k", 1, 50), 1).status()).isEqualTo(Status.OK);
        cluster.session().call(new Request().closeSession(shard, late));
        client.put(cache, bytes("k"), value("k", 2, 50));
        // As many as the primary remembers by their ids, in the same table: it forgets the first one.
        LongStream.iterate(1_000_000L, id -> id + 1)
                .filter(id -> tableOf(id) == tableOf(late))
                .limit(64)
                .forEach(other -> {
                    cluster.session().call(opening.openSession(shard, other, opening.version()));
                    assertThat(opening.status()).isEqualTo(Status.OK);
                    cluster.session().call(new Request().closeSession(shard, other));
                });

        cluster.session().call(opening.openSession(shard, late, asOf));
        assertThat(opening.status()).isEqualTo(Status.SESSION_EXPIRED);
        assertThat(deliver(late, put("k", 1, 50), 1).status()).isEqualTo(Status.SESSION_EXPIRED);
        assertThat(numberOf("k", client.get(cache, bytes("k")))).isEqualTo(2);
    }

    /** Table of a replica that holds the session. */
    private static long tableOf(long sessionId) {
        return sessionId * 0x9e3779b97f4a7c15L >>> 60;
    }

    @Test
    void shouldCloseTheSessionWhoseOutcomeStayedUnknown() {
        open(3, 3);
        final ManualClock clock = new ManualClock();
        final AtomicInteger lost = new AtomicInteger();
        final RowanClient losing = losing(
                n -> {
                    clock.advanceMs(500);
                    return lost.getAndDecrement() > 0;
                },
                new AtomicInteger(),
                clock);
        losing.put(cache, bytes("k"), value("k", 1, 40));
        final int open = openSessions();
        for (int round = 0; round < 20; round++) {
            lost.set(1000);
            assertThatThrownBy(() -> losing.put(cache, bytes("k"), value("k", 2, 40)))
                    .isInstanceOf(RowanException.class);
            lost.set(0);
            losing.put(cache, bytes("k"), value("k", 3, 40));
            assertThat(openSessions()).isEqualTo(open);
        }
        losing.close();
        assertThat(openSessions()).isLessThan(open);
    }

    private int openSessions() {
        int open = 0;
        for (int shard = 0; shard < cluster.configuration().shardCount(); shard++) {
            open += cluster.servers()
                    .get(cluster.configuration().shard(shard).primary())
                    .replicas()
                    .get(shard)
                    .sessions()
                    .openIds()
                    .length;
        }
        return open;
    }

    @Test
    void shouldRefuseARequestWhoseAnswerIsKnown() {
        open(1, 1);
        deliver(put("k", 1, 50), 1);
        deliver(put("k", 2, 50), 2);
        assertThat(deliver(put("k", 1, 50), 1).status()).isEqualTo(Status.BAD_REQUEST);
        assertThat(numberOf("k", client.get(cache, bytes("k")))).isEqualTo(2);
    }

    @Test
    void shouldApplyOnceWhenRepliesAreLost() {
        open(3, 3);
        final AtomicInteger calls = new AtomicInteger();
        final RowanClient losing = losing(n -> n % 3 != 0, calls, new ManualClock());
        for (int i = 1; i <= 500; i++) {
            final byte[] old =
                    losing.getAndPut(cache, bytes("k"), value("k", i, 40)).previousValue();
            assertThat(old == null ? 0 : numberOf("k", old)).isEqualTo(i - 1);
        }
        assertThat(calls.get()).isGreaterThan(1000);
    }

    @Test
    void shouldSayThatAnOutcomeIsUnknownAndGoOn() {
        open(3, 3);
        final ManualClock clock = new ManualClock();
        final AtomicInteger calls = new AtomicInteger();
        final AtomicInteger lost = new AtomicInteger();
        final RowanClient losing = losing(
                n -> {
                    clock.advanceMs(500);
                    return lost.getAndDecrement() > 0;
                },
                calls,
                clock);
        losing.put(cache, bytes("k"), value("k", 1, 40));
        lost.set(1000);
        final RowanException failure = org.assertj.core.api.Assertions.catchThrowableOfType(
                RowanException.class, () -> losing.put(cache, bytes("k"), value("k", 2, 40)));
        assertThat(failure.status()).isEqualTo(Status.OUTCOME_UNKNOWN);
        lost.set(0);
        assertThat(numberOf("k", losing.get(cache, bytes("k")))).isEqualTo(2);
        assertThat(numberOf(
                        "k",
                        losing.getAndPut(cache, bytes("k"), value("k", 3, 40)).previousValue()))
                .isEqualTo(2);
    }

    private RowanClient losing(IntPredicate loses, AtomicInteger calls, ManualClock clock) {
        return new RowanClient(
                new ReplyLosingSession(cluster.session(), loses, calls), clock, new SplittableRandomSource(3));
    }
}
