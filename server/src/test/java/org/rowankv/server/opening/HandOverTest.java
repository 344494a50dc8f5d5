package org.rowankv.server.opening;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.opening.LiveCluster.SHARDS;
import static org.rowankv.server.opening.LiveCluster.bytes;
import static org.rowankv.server.opening.LiveCluster.get;
import static org.rowankv.server.opening.LiveCluster.key;
import static org.rowankv.server.opening.LiveCluster.put;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.TestScale;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.engine.Server;
import org.rowankv.server.shard.ShardChanges;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;

/** A shard goes from one living server to another, while both run. */
final class HandOverTest {
    private static final int SERVERS = 3;
    private static final int SHARD = 0;

    private final LiveCluster cluster = new LiveCluster(SERVERS);

    static IntStream seeds() {
        return IntStream.range(0, TestScale.of(40, 1_000));
    }

    private void requireOnePrimary() {
        for (int shard = 0; shard < SHARDS; shard++) {
            final int one = shard;
            assertThat(cluster.alive().stream()
                            .filter(server -> cluster.servers.get(server).isPrimary(one))
                            .count())
                    .as("primaries of shard %d", shard)
                    .isLessThanOrEqualTo(1);
        }
    }

    private static PollableCall beginAt(Server server, Request request) {
        return server.requests().stepped(request);
    }

    /** R43: what is under way at the old primary is finished there, on all replicas, before the next one opens. */
    @Test
    void shouldFinishWhatIsUnderWayBeforeTheNextPrimaryOpens() {
        final Server from = cluster.primary(SHARD);
        final int to = cluster.configuration().shard(SHARD).backups()[0];
        final int slow = cluster.configuration().shard(SHARD).backups()[1];
        cluster.ok(put(key(SHARD, 0), bytes(20, 1)));
        cluster.settle();
        cluster.fabric.gate(from.serverId(), slow).allowEntries(0);
        final Request first = put(key(SHARD, 0), bytes(20, 2));
        final PollableCall underWay = beginAt(from, first);
        assertThat(underWay.step()).isFalse();
        cluster.adopt(cluster.handingOver(SHARD, to));
        cluster.step(50); // the next primary waits
        final Request second = put(key(SHARD, 1), bytes(20, 3));
        final PollableCall late = beginAt(from, second);
        for (int i = 0; i < 500; i++) {
            cluster.step();
            assertThat(late.step())
                    .as("a mutation begun when the next primary waits is answered")
                    .isFalse();
            assertThat(underWay.step()).isFalse();
            assertThat(from.isPrimary(SHARD)).isTrue();
            assertThat(cluster.servers.get(to).isPrimary(SHARD)).isFalse();
        }
        cluster.fabric.gate(from.serverId(), slow).allowEntries(Integer.MAX_VALUE);
        cluster.stepUntil(underWay::step);
        assertThat(first.status()).isEqualTo(Status.OK);
        cluster.stepUntil(late::step);
        assertThat(second.status()).isEqualTo(Status.NOT_PRIMARY);
        assertThat(from.isPrimary(SHARD)).isFalse();
        cluster.stepUntil(() -> cluster.isOpen(SHARD));
        requireOnePrimary();
        assertThat(cluster.value(key(SHARD, 0))).isEqualTo(bytes(20, 2));
        assertThat(cluster.value(key(SHARD, 1))).isNull();
        cluster.ok(put(key(SHARD, 0), bytes(20, 4)));
        cluster.requireAgreement();
    }

    /** It takes versions and answers, and what it has written meanwhile is on all replicas. */
    @Test
    void shouldServeUntilTheNextPrimaryWaitsForIt() {
        final Server from = cluster.primary(SHARD);
        cluster.network(delivery -> delivery.message().kind() == OpeningMessage.HAND_OVER ? null : delivery);
        cluster.adopt(
                cluster.handingOver(SHARD, cluster.configuration().shard(SHARD).backups()[0]));
        for (int i = 0; i < 20; i++) {
            cluster.step(50);
            final Request put = put(key(SHARD, i % 3), bytes(20, i));
            final PollableCall call = beginAt(from, put);
            cluster.stepUntil(call::step);
            assertThat(put.status()).isEqualTo(Status.OK);
        }
        assertThat(cluster.isOpen(SHARD)).isFalse();
        cluster.network(delivery -> delivery);
        cluster.stepUntil(() -> cluster.isOpen(SHARD));
        assertThat(from.isPrimary(SHARD)).isFalse();
        assertThat(cluster.value(key(SHARD, 19 % 3))).isEqualTo(bytes(20, 19));
        cluster.requireAgreement();
    }

    /** The next primary dies when the former one has closed the shard for it. */
    @Test
    void shouldGoOnIfTheShardComesBackBeforeItHasLeft() {
        final Server from = cluster.primary(SHARD);
        final int to = cluster.configuration().shard(SHARD).backups()[0];
        final int slow = cluster.configuration().shard(SHARD).backups()[1];
        cluster.fabric.gate(from.serverId(), slow).allowEntries(0);
        final Request first = put(key(SHARD, 0), bytes(20, 1));
        final PollableCall underWay = beginAt(from, first);
        assertThat(underWay.step()).isFalse();
        cluster.adopt(cluster.handingOver(SHARD, to));
        cluster.step(50);
        final Request second = put(key(SHARD, 1), bytes(20, 2));
        final PollableCall late = beginAt(from, second);
        assertThat(late.step()).isFalse();
        cluster.stop(to);
        cluster.adopt(cluster.excluding(from.serverId(), to));
        cluster.fabric.gate(from.serverId(), slow).allowEntries(Integer.MAX_VALUE);
        cluster.stepUntil(underWay::step);
        cluster.stepUntil(late::step);
        assertThat(first.status()).isEqualTo(Status.OK);
        assertThat(second.status()).isEqualTo(Status.OK);
        cluster.stepUntil(cluster::isAllOpen);
        assertThat(cluster.value(key(SHARD, 1))).isEqualTo(bytes(20, 2));
        cluster.requireAgreement();
    }

    /** The primary of that epoch may be gone, and the next one asks later. */
    @Test
    void shouldStayOpenForAQuestionOfAnEarlierEpoch() {
        final Server from = cluster.primary(SHARD);
        final int to = cluster.configuration().shard(SHARD).backups()[0];
        final int third = cluster.configuration().shard(SHARD).backups()[1];
        final List<OpeningMessage> questions = new ArrayList<>();
        cluster.network(delivery -> {
            if (delivery.message().kind() == OpeningMessage.HAND_OVER) {
                questions.add(delivery.message());
                return null;
            }
            return delivery;
        });
        cluster.adopt(cluster.handingOver(SHARD, to));
        cluster.step(50);
        cluster.stop(third);
        cluster.adopt(cluster.excluding(to, third));
        final int epoch = cluster.configuration().shard(SHARD).epoch();
        assertThat(questions).isNotEmpty().allMatch(question -> question.epoch() < epoch);
        from.roleChanges().openings().received(to, questions.get(0));
        cluster.step(50);
        final Request put = put(key(SHARD, 0), bytes(20, 1));
        final PollableCall call = beginAt(from, put);
        cluster.stepUntil(call::step);
        assertThat(put.status()).isEqualTo(Status.OK);
        cluster.network(delivery -> delivery);
        cluster.stepUntil(cluster::isAllOpen);
        assertThat(from.isPrimary(SHARD)).isFalse();
        cluster.requireAgreement();
    }

    private static ShardChanges.Reading changesSince(Server server, long position) {
        return server.replicas()
                .get(SHARD)
                .changes()
                .read(LiveCluster.CACHE, position, server.finishedVersion(SHARD), 1 << 20);
    }

    private static long subscribe(Server server) {
        return server.replicas()
                .get(SHARD)
                .changes()
                .request(LiveCluster.CACHE, false, () -> server.lastVersion(SHARD));
    }

    /** Subscribes, writes, and hands the shard over to that server, which opens it; returns the position. */
    private long subscribeAndHandOver(int next) {
        final long position = subscribe(cluster.primary(SHARD));
        cluster.ok(put(key(SHARD, 0), bytes(20, 1)));
        cluster.adopt(cluster.handingOver(SHARD, next));
        cluster.stepUntil(() -> cluster.isOpen(SHARD));
        return position;
    }

    private static void requireLoss(Server primary, long position) {
        assertThat(subscribe(primary)).isGreaterThan(position);
        assertThat(changesSince(primary, position).lostTo()).isPositive();
    }

    @Test
    void shouldGoOnWithTheChangeStreamOfTheFormerPrimary() {
        final Server from = cluster.primary(SHARD);
        final long position = subscribe(from);
        cluster.ok(put(key(SHARD, 0), bytes(20, 1)));
        cluster.ok(put(key(SHARD, 1), bytes(20, 2)));
        cluster.adopt(
                cluster.handingOver(SHARD, cluster.configuration().shard(SHARD).backups()[0]));
        cluster.stepUntil(() -> cluster.isOpen(SHARD));
        cluster.ok(put(key(SHARD, 0), bytes(20, 3)));
        cluster.settle();
        final ShardChanges.Reading reading = changesSince(cluster.primary(SHARD), position);
        assertThat(reading.lostTo()).isZero();
        assertThat(reading.changes())
                .extracting(Change::value)
                .containsExactly(bytes(20, 1), bytes(20, 2), bytes(20, 3));
        assertThat(from.replicas().get(SHARD).changes().requested(LiveCluster.CACHE))
                .isEqualTo(ShardChanges.NOT_REQUESTED);
    }

    /** It stops, and is dropped from the backups before the next primary has opened. */
    @Test
    void shouldGoOnWithTheChangeStreamAlthoughTheSetOfBackupsChangesMeanwhile() {
        final Server from = cluster.primary(SHARD);
        final long position = subscribe(from);
        cluster.ok(put(key(SHARD, 0), bytes(20, 1)));
        cluster.network(
                delivery -> delivery.message().kind() == OpeningMessage.COLLECTED ? null : delivery); // it never opens
        cluster.adopt(cluster.handingOverAll(from.serverId()));
        final long handedOver = cluster.configuration().term();
        cluster.stepUntil(() -> from.roleChanges().bareTerm() == handedOver);
        assertThat(cluster.isOpen(SHARD)).isFalse();
        cluster.network(delivery -> delivery);
        cluster.adopt(cluster.withoutBackup(from.serverId()));
        cluster.stepUntil(cluster::isAllOpen);
        cluster.ok(put(key(SHARD, 0), bytes(20, 2)));
        cluster.settle();
        final ShardChanges.Reading reading = changesSince(cluster.primary(SHARD), position);
        assertThat(reading.lostTo()).isZero();
        assertThat(reading.changes()).extracting(Change::value).containsExactly(bytes(20, 1), bytes(20, 2));
    }

    /** The next primary asks once more; by then the former one must still be there. */
    @Test
    void shouldGoOnWithTheChangeStreamAlthoughItIsLostOnItsWay() {
        final Server from = cluster.primary(SHARD);
        final long position = subscribe(from);
        cluster.ok(put(key(SHARD, 0), bytes(20, 1)));
        final List<OpeningMessage> lost = new ArrayList<>();
        cluster.network(delivery -> {
            final OpeningMessage message = delivery.message();
            if (lost.isEmpty() && message.kind() == OpeningMessage.HANDED_OVER && delivery.from() == from.serverId()) {
                lost.add(message);
                return null;
            }
            return delivery;
        });
        cluster.adopt(cluster.handingOverAll(from.serverId()));
        cluster.stepUntil(
                () -> from.roleChanges().bareTerm() == cluster.configuration().term());
        assertThat(lost).hasSize(1);
        assertThat(lost.get(0).shard()).isEqualTo(SHARD);
        cluster.adopt(cluster.withoutBackup(from.serverId()));
        cluster.stepUntil(cluster::isAllOpen);
        cluster.ok(put(key(SHARD, 0), bytes(20, 2)));
        cluster.settle();
        final ShardChanges.Reading reading = changesSince(cluster.primary(SHARD), position);
        assertThat(reading.lostTo()).isZero();
        assertThat(reading.changes()).extracting(Change::value).containsExactly(bytes(20, 1), bytes(20, 2));
    }

    /** Otherwise it might be dropped before the stream is on its way: it digests first what has landed. */
    @Test
    void shouldHaveRolesUntilTheChangeStreamIsHandedOver() {
        final Server from = cluster.primary(SHARD);
        final int other = cluster.configuration()
                .primariesOf(cluster.configuration().shard(SHARD).backups()[0])
                .get(0);
        cluster.ok(put(key(other, 0), bytes(1, 0)));
        final long unused = subscribe(from);
        final List<OpeningMessage> sent = new ArrayList<>();
        cluster.network(delivery -> {
            if (delivery.from() == from.serverId() && delivery.message().kind() == OpeningMessage.HANDED_OVER) {
                sent.add(delivery.message());
            }
            return delivery;
        });
        cluster.adopt(cluster.handingOverAll(from.serverId()));
        cluster.sleep(from.serverId());
        cluster.step(5); // the next primary waits
        for (int i = 0; i < 5_500; i++) { // more than it digests in one turn
            cluster.ok(put(key(other, 0), bytes(1, i)));
        }
        cluster.awake(from.serverId());
        cluster.stepUntil(() -> !from.isPrimary(SHARD));
        assertThat(sent).isEmpty();
        cluster.stepUntil(() -> {
            final boolean isBare =
                    from.roleChanges().bareTerm() == cluster.configuration().term();
            if (isBare) {
                assertThat(sent).anyMatch(message -> message.shard() == SHARD);
            }
            return isBare;
        });
        cluster.stepUntil(cluster::isAllOpen);
    }

    /** The next primary dies before it has asked. */
    @Test
    void shouldOweNothingToAPrimaryThatIsExcluded() {
        final Server from = cluster.primary(SHARD);
        final long unused = subscribe(from);
        cluster.adopt(cluster.handingOverAll(from.serverId()));
        final int next = cluster.configuration().shard(SHARD).primary();
        cluster.stop(next);
        final int other = cluster.alive().stream()
                .filter(server -> server != from.serverId())
                .findFirst()
                .orElseThrow();
        cluster.adopt(cluster.excluding(other, next));
        cluster.stepUntil(
                () -> from.roleChanges().bareTerm() == cluster.configuration().term());
        cluster.stepUntil(cluster::isAllOpen);
    }

    /** The second one has not opened the shard: so nothing was written there. */
    @Test
    void shouldGoOnWithItsOwnChangeStreamWhenTheShardComesBackUnopened() {
        final Server from = cluster.primary(SHARD);
        final int next = cluster.configuration().shard(SHARD).backups()[0];
        final long position = subscribe(from);
        cluster.ok(put(key(SHARD, 0), bytes(20, 1)));
        cluster.network(
                delivery -> delivery.message().kind() == OpeningMessage.COLLECTED ? null : delivery); // it never opens
        cluster.adopt(cluster.handingOver(SHARD, next));
        cluster.stepUntil(() -> !from.isPrimary(SHARD));
        cluster.step(50);
        assertThat(cluster.isOpen(SHARD)).isFalse();
        cluster.adopt(cluster.handingOver(SHARD, from.serverId()));
        cluster.step(50);
        cluster.network(delivery -> delivery);
        cluster.stepUntil(() -> from.isPrimary(SHARD));
        cluster.ok(put(key(SHARD, 0), bytes(20, 2)));
        cluster.settle();
        final ShardChanges.Reading reading = changesSince(from, position);
        assertThat(reading.lostTo()).isZero();
        assertThat(reading.changes()).extracting(Change::value).containsExactly(bytes(20, 1), bytes(20, 2));
    }

    /** There was no subscriber at the second one for so long that it keeps none of its changes. */
    @Test
    void shouldTakeNothingOfItsOwnWhenTheSecondPrimaryHasOpened() {
        final Server from = cluster.primary(SHARD);
        final int next = cluster.configuration().shard(SHARD).backups()[0];
        final long position = subscribeAndHandOver(next);
        cluster.servers.get(next).replicas().get(SHARD).beginChanges();
        cluster.ok(put(key(SHARD, 0), bytes(20, 2)));
        cluster.adopt(cluster.handingOver(SHARD, from.serverId()));
        cluster.stepUntil(() -> from.isPrimary(SHARD));
        cluster.settle();
        requireLoss(from, position);
    }

    /** The second one has opened the shard, written, and is lost: it cannot say so. */
    @Test
    void shouldTakeNothingOfItsOwnWhenTheSecondPrimaryIsLost() {
        final Server from = cluster.primary(SHARD);
        final int next = cluster.configuration().shard(SHARD).backups()[0];
        final long position = subscribeAndHandOver(next);
        cluster.ok(put(key(SHARD, 0), bytes(20, 2)));
        cluster.settle();
        cluster.stop(next);
        cluster.adopt(cluster.excluding(from.serverId(), next));
        cluster.stepUntil(cluster::isAllOpen);
        assertThat(from.isPrimary(SHARD)).isTrue();
        requireLoss(from, position);
    }

    /** As above, after an opening that was given up. */
    @Test
    void shouldTakeNothingOfItsOwnWhenTheSecondPrimaryIsLostBeforeItAnswers() {
        final Server from = cluster.primary(SHARD);
        final int next = cluster.configuration().shard(SHARD).backups()[0];
        final long position = subscribeAndHandOver(next);
        cluster.ok(put(key(SHARD, 0), bytes(20, 2)));
        cluster.settle();
        cluster.network(delivery -> delivery.from() == next ? null : delivery);
        cluster.adopt(cluster.handingOver(SHARD, from.serverId()));
        cluster.step(50);
        assertThat(from.isPrimary(SHARD)).isFalse();
        cluster.stop(next);
        cluster.adopt(cluster.excluding(from.serverId(), next));
        cluster.stepUntil(cluster::isAllOpen);
        assertThat(from.isPrimary(SHARD)).isTrue();
        requireLoss(from, position);
    }

    /** The first primary does not know what the second one has changed. */
    @Test
    void shouldBeginANewChangeStreamWhenAnotherPrimaryWasInBetween() {
        final int next = cluster.configuration().shard(SHARD).backups()[0];
        final int last = cluster.configuration().shard(SHARD).backups()[1];
        final long position = subscribe(cluster.primary(SHARD));
        cluster.ok(put(key(SHARD, 0), bytes(20, 1)));
        cluster.adopt(cluster.handingOver(SHARD, next));
        cluster.stepUntil(() -> cluster.isOpen(SHARD));
        cluster.ok(put(key(SHARD, 0), bytes(20, 2)));
        cluster.settle();
        cluster.stop(next);
        cluster.adopt(cluster.excluding(last, next));
        cluster.stepUntil(cluster::isAllOpen);
        final long seen = subscribe(cluster.primary(SHARD));
        assertThat(seen).isGreaterThan(position);
        assertThat(changesSince(cluster.primary(SHARD), position).lostTo()).isPositive();
    }

    /** What each has drawn of its credit is counted for itself, when either is excluded. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldReturnTheCreditOfEachWhenItIsExcluded(boolean isFormer) {
        final int former = cluster.primary(SHARD).serverId();
        final int next = cluster.configuration().shard(SHARD).backups()[0];
        for (int i = 0; i < 20; i++) {
            cluster.ok(put(key(SHARD, i), bytes(100, i)));
        }
        cluster.settle();
        cluster.adopt(cluster.handingOver(SHARD, next));
        cluster.stepUntil(() -> cluster.isOpen(SHARD));
        for (int i = 0; i < 5; i++) {
            cluster.ok(put(key(SHARD, i), bytes(100, 2 * i)));
        }
        cluster.settle();
        final int gone = isFormer ? former : next;
        cluster.stop(gone);
        cluster.adopt(cluster.excluding(isFormer ? next : former, gone));
        cluster.stepUntil(cluster::isAllOpen);
        cluster.settle();
        cluster.releaseGrants();
        cluster.requireExactSpace();
    }

    /** CommitVer is behind what it has finished: what the next primary takes for missing there would be sent to it again. */
    @Test
    void shouldSendNothingToTheFormerPrimaryThatItHas() {
        final int next = cluster.configuration().shard(SHARD).backups()[0];
        for (int i = 0; i < 20; i++) {
            cluster.ok(put(key(SHARD, i), bytes(5_000, i)));
        }
        final ShardReplica replica = cluster.primary(SHARD).replicas().get(SHARD);
        assertThat(replica.commitVersion()).isLessThan(cluster.primary(SHARD).lastVersion(SHARD));
        cluster.adopt(cluster.handingOver(SHARD, next));
        cluster.stepUntil(() -> cluster.isOpen(SHARD));
        cluster.settle();
        cluster.releaseGrants();
        cluster.requireExactSpace();
    }

    /** Each step of each server comes at a random moment; one caller per shard repeats what is refused. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldLoseNothingWhateverTheMoment(int seed) {
        final Random random = new Random(seed);
        final Map<Integer, byte[]> written = new HashMap<>();
        final Map<Integer, PollableCall> calls = new HashMap<>();
        final Map<Integer, Request> requests = new HashMap<>();
        for (int step = 0; step < 3_000; step++) {
            if (random.nextInt(100) == 0 && cluster.isAllOpen()) {
                final int shard = random.nextInt(SHARDS);
                final int[] backups = cluster.configuration().shard(shard).backups();
                final Configuration next = cluster.handingOver(shard, backups[random.nextInt(backups.length)]);
                cluster.alive().forEach(server -> cluster.prepare(server, next));
                cluster.alive().forEach(server -> {
                    cluster.commit(server, next);
                    for (int i = random.nextInt(3); i > 0; i--) {
                        cluster.run(random.nextInt(SERVERS));
                        cluster.deliver();
                        requireOnePrimary();
                    }
                });
            }
            for (int shard = 0; shard < SHARDS; shard++) {
                if (random.nextInt(3) == 0) {
                    go(random, shard, written, calls, requests);
                }
            }
            cluster.run(random.nextInt(SERVERS));
            if (random.nextBoolean()) {
                cluster.deliver();
            }
            requireOnePrimary();
        }
        cluster.stepUntil(() -> {
            for (int shard = 0; shard < SHARDS; shard++) {
                if (calls.containsKey(shard)) {
                    go(random, shard, written, calls, requests);
                }
            }
            return calls.isEmpty();
        });
        cluster.stepUntil(cluster::isAllOpen);
        cluster.requireAgreement();
    }

    private void go(
            Random random,
            int shard,
            Map<Integer, byte[]> written,
            Map<Integer, PollableCall> calls,
            Map<Integer, Request> requests) {
        final PollableCall call = calls.get(shard);
        if (call == null) {
            if (cluster.isOpen(shard)) {
                final boolean isRead = random.nextBoolean();
                final byte[] value = bytes(random.nextInt(200), random.nextInt());
                final Request request = isRead ? get(key(shard, 0)) : put(key(shard, 0), value);
                if (!isRead) {
                    written.put(-1 - shard, value);
                }
                requests.put(shard, request);
                calls.put(shard, cluster.begin(request));
            }
        } else if (call.step()) {
            calls.remove(shard);
            final Request request = requests.remove(shard);
            final byte[] value = written.remove(-1 - shard);
            if (request.status() == Status.NOT_PRIMARY) {
                return; // without a trace
            }
            if (value != null) {
                assertThat(request.status()).isEqualTo(Status.OK);
                written.put(shard, value);
            } else {
                assertThat(request.resultBytes()).isEqualTo(written.get(shard));
            }
        }
    }
}
