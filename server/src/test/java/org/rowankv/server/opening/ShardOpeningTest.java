package org.rowankv.server.opening;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.opening.LiveCluster.bytes;
import static org.rowankv.server.opening.LiveCluster.delete;
import static org.rowankv.server.opening.LiveCluster.get;
import static org.rowankv.server.opening.LiveCluster.key;
import static org.rowankv.server.opening.LiveCluster.put;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.topology.Configuration;

/**
 * Server 0 of three ends in the middle of a mutation of shard 0; server 1 becomes the shard's primary while all go on
 * with the rest.
 */
final class ShardOpeningTest {
    private static final int DEAD = 0;
    private static final int NEXT = 1;
    private static final int THIRD = 2;
    private static final int SHARD = 0;
    private static final byte[] KEY = key(SHARD, 0);
    private static final byte[] OTHER = key(SHARD, 1);
    private static final byte[] OLD = bytes(100, 'o');
    /** Longer than three messages. */
    private static final byte[] LONG = bytes(2_500, 'l');

    private final LiveCluster cluster = new LiveCluster(3);

    @AfterEach
    void close() {
        cluster.close();
    }

    /** What the primary is doing when it ends. */
    private enum Mutation {
        PUT,
        LONG_PUT,
        DELETE,
        CLEAR,
        OPENING,
        IDENTIFIED_PUT,
        IDENTIFIED_LONG_PUT;

        boolean isLong() {
            return this == LONG_PUT || this == IDENTIFIED_LONG_PUT;
        }

        boolean isIdentified() {
            return this == IDENTIFIED_PUT || this == IDENTIFIED_LONG_PUT;
        }
    }

    /** By entries or blocks that land on the next primary, and on the third server. */
    static Stream<Arguments> moments() {
        final List<Arguments> all = new ArrayList<>();
        for (Mutation mutation : Mutation.values()) {
            final int whole = mutation.isLong() ? 3 : 1;
            for (int first = 0; first <= whole; first++) {
                for (int second = 0; second <= whole; second++) {
                    all.add(Arguments.of(mutation, first, second));
                }
            }
        }
        return all.stream();
    }

    private Request request(Mutation mutation, long session) {
        final Request request = new Request();
        return switch (mutation) {
            case PUT -> put(KEY, bytes(50, 'n'));
            case LONG_PUT -> put(KEY, LONG);
            case DELETE -> delete(KEY);
            case CLEAR -> request.clear(LiveCluster.CACHE, SHARD);
            case OPENING -> {
                cluster.call(request.openSession(SHARD, 77, 0));
                yield request.openSession(SHARD, 77, request.version());
            }
            case IDENTIFIED_PUT -> {
                final Request put = put(KEY, bytes(50, 'n'));
                put.identified(session, 1, 0);
                yield put;
            }
            case IDENTIFIED_LONG_PUT -> {
                final Request put = put(KEY, LONG);
                put.identified(session, 1, 0);
                yield put;
            }
        };
    }

    /** The mutation has begun, and so many of its messages pass to each backup. */
    private PollableCall beginAtTheDead(Request request, int toNext, int toThird) {
        cluster.fabric.gate(DEAD, NEXT).allowEntries(toNext);
        cluster.fabric.gate(DEAD, THIRD).allowEntries(toThird);
        final PollableCall call = cluster.begin(request);
        for (int i = 0; i < 20; i++) {
            assertThat(call.step()).isFalse();
            cluster.run(DEAD);
        }
        return call;
    }

    private Configuration exclude() {
        cluster.stop(DEAD);
        return cluster.excluding(NEXT, DEAD);
    }

    @ParameterizedTest
    @MethodSource("moments")
    void shouldCompleteWhatHasLandedAnywhereAndNothingElse(Mutation mutation, int toNext, int toThird) {
        final int whole = mutation.isLong() ? 3 : 1;
        final boolean isAnywhere = toNext == whole || toThird == whole;
        cluster.ok(put(KEY, OLD));
        cluster.ok(put(OTHER, OLD));
        final byte[] elsewhere = key(1, 0);
        cluster.ok(put(elsewhere, OLD));
        final long session = mutation.isIdentified() ? cluster.session(SHARD) : 0;
        cluster.settle();
        cluster.releaseGrants();
        final Request request = request(mutation, session);
        if (toNext == whole && toThird == whole) {
            cluster.fabric.gate(DEAD, NEXT).allowEntries(whole);
            cluster.fabric.gate(DEAD, THIRD).allowEntries(whole);
            assertThat(cluster.begin(request).step()).isTrue();
        } else {
            beginAtTheDead(request, toNext, toThird);
        }
        cluster.step(3);

        cluster.adopt(exclude());
        assertThat(cluster.ok(put(elsewhere, bytes(10, 'e'))).version()).isPositive();
        cluster.stepUntil(cluster::isAllOpen);
        assertThat(cluster.opened).contains(NEXT + ":" + SHARD);

        cluster.requireAgreement();
        final byte[] value = cluster.value(KEY);
        switch (mutation) {
            case PUT, IDENTIFIED_PUT -> assertThat(value).isEqualTo(isAnywhere ? bytes(50, 'n') : OLD);
            case LONG_PUT, IDENTIFIED_LONG_PUT -> assertThat(value).isEqualTo(isAnywhere ? LONG : OLD);
            case DELETE, CLEAR -> assertThat(value).isEqualTo(isAnywhere ? null : OLD);
            case OPENING -> assertThat(value).isEqualTo(OLD);
        }
        assertThat(cluster.value(OTHER)).isEqualTo(mutation == Mutation.CLEAR && isAnywhere ? null : OLD);
        if (mutation == Mutation.OPENING) {
            assertThat(cluster.servers
                            .get(NEXT)
                            .replicas()
                            .get(SHARD)
                            .sessions()
                            .openIds())
                    .isEqualTo(isAnywhere ? new long[] {77} : new long[0]);
        }
        if (mutation.isIdentified()) {
            requireOnce(session, value, isAnywhere);
        }
        requireLargerVersions();
        cluster.requireExactSpace();
        cluster.requireAgreement();
    }

    /** R28: a repeated request gets the response of the first attempt, if that took effect. */
    private void requireOnce(long session, byte[] value, boolean isAnywhere) {
        final long before = cluster.call(get(KEY)).version();
        final Request again = put(KEY, value);
        again.identified(session, 1, 0);
        cluster.ok(again);
        final long after = cluster.call(get(KEY)).version();
        assertThat(Version.epoch(after)).isEqualTo(isAnywhere ? 1 : 2);
        assertThat(after == before).as("applied once").isEqualTo(isAnywhere);
    }

    /** R2: no version is given out twice. */
    private void requireLargerVersions() {
        final long first = cluster.ok(put(OTHER, bytes(20, 'v'))).version();
        assertThat(Version.epoch(first)).isEqualTo(2);
        assertThat(cluster.ok(put(KEY, bytes(20, 'w'))).version()).isGreaterThan(first);
        cluster.settle();
        for (int server : cluster.alive()) {
            assertThat(Version.epoch(
                            cluster.servers.get(server).replicas().get(SHARD).commitVersion()))
                    .isEqualTo(2);
        }
    }

    /** R33, first half: what lands before the fence is collected, however early the question comes. */
    @Test
    void shouldNotAnswerCollectBeforeTheFormerPrimaryIsFenced() {
        cluster.ok(put(KEY, OLD));
        final PollableCall call = beginAtTheDead(put(KEY, LONG), 0, 0);
        final Configuration next = exclude();
        cluster.prepare(NEXT, next);
        cluster.commit(NEXT, next);
        cluster.step(50);
        assertThat(cluster.isOpen(SHARD)).isFalse();

        // It is not as dead as it seems.
        cluster.fabric.gate(DEAD, THIRD).allowEntries(3);
        assertThat(call.step()).isFalse();
        cluster.prepare(THIRD, next);
        cluster.commit(THIRD, next);
        cluster.stepUntil(cluster::isAllOpen);
        cluster.requireAgreement();
        assertThat(cluster.value(KEY)).isEqualTo(LONG);
    }

    /** The third server has more to digest than it does in one cycle, and the question comes before the first of them. */
    @Test
    void shouldNotAnswerCollectBeforeAllThatHadLandedIsDigested() {
        cluster.step(5);
        cluster.sleep(THIRD);
        cluster.network(delivery -> {
            final OpeningMessage message = delivery.message();
            final boolean isHandOver = delivery.to() == THIRD && message.kind() == OpeningMessage.HAND_OVER;
            return isHandOver ? new LiveCluster.Delivery(THIRD, delivery.from(), message.handedOver()) : delivery;
        });
        for (int i = 0; i < 5_000; i++) {
            cluster.ok(put(OTHER, bytes(4, i)));
        }
        beginAtTheDead(put(KEY, OLD), 0, 1);
        cluster.adopt(exclude());
        cluster.step(20); // the question is there
        cluster.awake(THIRD);
        cluster.stepUntil(cluster::isAllOpen);
        cluster.requireAgreement();
        assertThat(cluster.value(KEY)).isEqualTo(OLD);
    }

    /** R34: an unacknowledged entry that is not on all replicas yet must not be shown. */
    @Test
    void shouldNotOpenBeforeAllReplicasHaveWhatItSends() {
        cluster.ok(put(KEY, OLD));
        cluster.settle();
        beginAtTheDead(put(KEY, LONG), 3, 0);
        cluster.fabric.gate(NEXT, THIRD).allowEntries(2);
        cluster.adopt(exclude());
        cluster.step(200);
        assertThat(cluster.isOpen(SHARD)).isFalse();
        assertThat(Version.epoch(
                        cluster.servers.get(THIRD).replicas().get(SHARD).commitVersion()))
                .isEqualTo(1);
        assertThat(cluster.call(get(KEY)).status()).isEqualTo(Status.NOT_PRIMARY);

        cluster.fabric.gate(NEXT, THIRD).allowEntries(Integer.MAX_VALUE);
        cluster.stepUntil(cluster::isAllOpen);
        assertThat(cluster.value(KEY)).isEqualTo(LONG);
        cluster.requireAgreement();
    }
}
