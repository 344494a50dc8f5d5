package org.rowankv.server.opening;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.opening.LiveCluster.bytes;
import static org.rowankv.server.opening.LiveCluster.delete;
import static org.rowankv.server.opening.LiveCluster.key;
import static org.rowankv.server.opening.LiveCluster.put;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.protocol.Version;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.log.EntryDescriptor;

/** What the new primary of a shard makes of the answers of another replica, and what that tells. */
final class OpeningAnswersTest {
    private static final int DEAD = 0;
    private static final int NEXT = 1;
    private static final int THIRD = 2;
    private static final int SHARD = 0;
    private static final byte[] KEY = key(SHARD, 0);
    private static final byte[] OTHER = key(SHARD, 1);
    private static final byte[] OLD = bytes(100, 'o');
    private static final byte[] NEW = bytes(200, 'n');

    private final LiveCluster cluster = new LiveCluster(3);
    private final List<OpeningMessage> sent = new ArrayList<>();

    @AfterEach
    void close() {
        cluster.close();
    }

    /** Only the third server has the newest value. */
    private void endWithOneMore() {
        cluster.ok(put(KEY, OLD));
        cluster.settle();
        cluster.fabric.gate(DEAD, NEXT).allowEntries(0);
        final PollableCall call = cluster.begin(put(KEY, NEW));
        for (int i = 0; i < 20; i++) {
            assertThat(call.step()).isFalse();
        }
    }

    private void exclude() {
        cluster.stop(DEAD);
        cluster.adopt(cluster.excluding(NEXT, DEAD));
    }

    /** A forged answer. */
    private record Forgery(String name, int kind, UnaryOperator<OpeningMessage> by) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static OpeningMessage with(OpeningMessage answer, long commitVersion, ByteBuffer payload) {
        return new OpeningMessage(
                answer.kind(), answer.shard(), answer.epoch(), answer.argument(), commitVersion, payload);
    }

    private static ByteBuffer versions(long... versions) {
        final ByteBuffer payload =
                ByteBuffer.allocate(versions.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < versions.length; i++) {
            payload.putLong(i * Long.BYTES, versions[i]);
        }
        return payload;
    }

    private static ByteBuffer copy(ByteBuffer payload) {
        return ByteBuffer.allocate(payload.limit())
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(0, payload, 0, payload.limit());
    }

    private static OpeningMessage flipped(OpeningMessage answer, int at) {
        final ByteBuffer payload = copy(answer.payload());
        payload.put(at, (byte) (payload.get(at) ^ 1));
        return with(answer, 0, payload);
    }

    static Stream<Forgery> forgeries() {
        final int collected = OpeningMessage.COLLECTED;
        final int fetched = OpeningMessage.FETCHED;
        return Stream.of(
                new Forgery(
                        "CommitVer of the new epoch", collected, each -> with(each, Version.of(2, 0), each.payload())),
                new Forgery("a version of the new epoch", collected, each -> with(each, 0, versions(Version.of(2, 1)))),
                new Forgery(
                        "the same version twice",
                        collected,
                        each -> with(each, 0, versions(Version.of(1, 9), Version.of(1, 9)))),
                new Forgery("a version not asked for", collected, each -> with(each, 0, versions(each.argument()))),
                new Forgery("half a version", collected, each -> with(each, 0, ByteBuffer.allocate(4))),
                new Forgery("nothing", fetched, each -> with(each, 0, ByteBuffer.allocate(0))),
                new Forgery(
                        "a part of the entry",
                        fetched,
                        each -> with(each, 0, copy(each.payload()).limit(64))),
                new Forgery("another value", fetched, each -> flipped(each, 150)),
                new Forgery("another type", fetched, each -> flipped(each, 6)),
                new Forgery("another shard", fetched, each -> flipped(each, EntryDescriptor.FRAME_LENGTH + 10)),
                new Forgery("another version", fetched, each -> flipped(each, EntryDescriptor.FRAME_LENGTH)));
    }

    /** It is as if it had not arrived: the question is asked again. */
    @ParameterizedTest
    @MethodSource("forgeries")
    void shouldNotBelieveAForgedAnswer(Forgery forgery) {
        endWithOneMore();
        final boolean[] forges = {true};
        cluster.network(delivery -> forges[0]
                        && delivery.message().kind() == forgery.kind
                        && delivery.message().shard() == SHARD
                ? new LiveCluster.Delivery(delivery.from(), delivery.to(), forgery.by.apply(delivery.message()))
                : delivery);
        exclude();
        cluster.step(1_000);
        assertThat(cluster.isOpen(SHARD)).isFalse();
        assertThat(cluster.reported())
                .anyMatch(each -> each.contains("the answer of server 2 about shard 0 is impossible"));

        forges[0] = false;
        cluster.stepUntil(cluster::isAllOpen);
        assertThat(cluster.value(KEY)).isEqualTo(NEW);
    }

    /** R33: what one replica knows to be on all, it may have dropped, with the tombstone that ended it. */
    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(ints = {NEXT, THIRD})
    void shouldNotMoveWhatAnyReplicaKnowsToBeCommitted(int knows) {
        cluster.fabric.gate(DEAD, NEXT + THIRD - knows).allowRecords(false);
        cluster.ok(put(KEY, OLD));
        cluster.ok(put(OTHER, OLD));
        final long last = cluster.ok(delete(KEY)).version();
        cluster.stepUntil(() -> cluster.servers.get(knows).replicas().get(SHARD).commitVersion() >= last);
        cluster.step(20);
        assertThat(cluster.servers
                        .get(NEXT + THIRD - knows)
                        .replicas()
                        .get(SHARD)
                        .tail()
                        .size())
                .isEqualTo(3);
        cluster.network(delivery -> {
            if (delivery.message().shard() == SHARD) {
                sent.add(delivery.message());
            }
            return delivery;
        });
        exclude();
        cluster.stepUntil(cluster::isAllOpen);
        assertThat(sent).extracting(OpeningMessage::kind).doesNotContain(OpeningMessage.FETCH);
        assertThat(cluster.fabric.gate(NEXT, THIRD).passed()).isZero();
        cluster.requireAgreement();
        assertThat(cluster.value(KEY)).isNull();
        assertThat(cluster.value(OTHER)).isEqualTo(OLD);
    }

    /** As above, of two answers. */
    @Test
    void shouldNotFetchWhatAnotherAnswerKnowsToBeCommitted() {
        try (LiveCluster four = new LiveCluster(4)) {
            four.fabric.gate(DEAD, NEXT).allowRecords(false);
            four.fabric.gate(DEAD, 3).allowRecords(false);
            four.ok(put(KEY, OLD));
            final long last = four.ok(delete(KEY)).version();
            four.stepUntil(() -> four.servers.get(THIRD).replicas().get(SHARD).commitVersion() >= last);
            four.step(20);
            four.network(delivery -> {
                if (delivery.message().shard() == SHARD) {
                    sent.add(delivery.message());
                }
                return delivery;
            });
            four.stop(DEAD);
            four.adopt(four.excluding(NEXT, DEAD));
            four.stepUntil(four::isAllOpen);
            assertThat(sent)
                    .filteredOn(message -> message.kind() == OpeningMessage.COLLECTED)
                    .anyMatch(answer -> answer.payload().limit() > 0);
            assertThat(sent).extracting(OpeningMessage::kind).doesNotContain(OpeningMessage.FETCH);
            four.requireAgreement();
            assertThat(four.value(KEY)).isNull();
        }
    }

    /** Any server may ask; only the primary of the prepared configuration is answered. */
    @Test
    void shouldAnswerOnlyThePrimaryOfTheShard() {
        endWithOneMore();
        cluster.network(delivery -> {
            sent.add(delivery.message());
            return null;
        });
        final OpeningAgent third = cluster.servers.get(THIRD).roleChanges().openings();
        final long newest = Version.of(1, 2);
        third.received(NEXT, OpeningMessage.collect(SHARD, 1, 0));
        third.received(NEXT, OpeningMessage.fetch(SHARD, 1, newest));
        third.received(NEXT, OpeningMessage.collect(LiveCluster.SHARDS, 1, 0));
        third.received(-1, OpeningMessage.collect(SHARD, 1, 0));
        third.received(99, OpeningMessage.collect(SHARD, 1, 0));
        third.received(THIRD, OpeningMessage.collect(2, 1, 0));
        third.received(NEXT, OpeningMessage.collect(SHARD, 2, 0).collected(5, versions(7)));
        cluster.step(20);
        assertThat(sent).isEmpty();

        third.received(DEAD, OpeningMessage.collect(SHARD, 1, 0));
        third.received(DEAD, OpeningMessage.fetch(SHARD, 1, newest));
        cluster.step(20);
        assertThat(sent)
                .extracting(OpeningMessage::kind)
                .containsExactly(OpeningMessage.FETCHED, OpeningMessage.COLLECTED);
    }

    /** R33: until then the former primary is not fenced off, and more may land. */
    @Test
    void shouldNotAnswerCollectBeforeItHasPreparedTheEpoch() {
        endWithOneMore();
        cluster.stop(DEAD);
        cluster.network(delivery -> {
            sent.add(delivery.message());
            return null;
        });
        cluster.servers.get(THIRD).roleChanges().openings().received(NEXT, OpeningMessage.collect(SHARD, 2, 0));
        cluster.step(20);
        assertThat(sent).isEmpty();

        cluster.prepare(THIRD, cluster.excluding(NEXT, DEAD));
        cluster.step(20);
        assertThat(sent).extracting(OpeningMessage::kind).containsExactly(OpeningMessage.COLLECTED);
    }

    @Test
    void shouldReadBytesOfAnyContentAsAMessageOrNone() {
        final java.util.Random random = new java.util.Random(3);
        int messages = 0;
        for (int i = 0; i < 20_000; i++) {
            final byte[] some = new byte[random.nextInt(80)];
            random.nextBytes(some);
            if (some.length > 16 && i % 2 == 0) {
                java.util.Arrays.fill(some, 0, 16, (byte) 0);
                some[0] = (byte) (i % 7);
            }
            final ByteBuffer read = ByteBuffer.wrap(some);
            if (OpeningMessage.whyInvalid(read) == null) {
                messages++;
                assertThat(OpeningMessage.decoded(read).encoded().order(ByteOrder.LITTLE_ENDIAN))
                        .isEqualTo(read);
            }
        }
        assertThat(messages).isPositive();
    }
}
