package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.request.LeasedShard.SESSION;
import static org.rowankv.server.request.LeasedShard.bytes;

import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;

/** Mutations, and reads in a worker context, whose answer no backup acknowledges: they need the lease. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class PermittedAnswersTest {
    private static final long OTHER_SESSION = 8;

    private final LeasedShard shard = new LeasedShard(0);
    private long version;

    /** Requests that are answered from the primary's replica alone; "a" is there and "b" is not. */
    enum Alone {
        READ(test -> test.shard.get("a"), Status.OK),
        READ_OF_NOTHING(test -> test.shard.get("b"), Status.NOT_FOUND),
        READ_OF_NOTHING_WITH_ACCESS_EXPIRY(test -> test.shard.get("b").accessTtl(1_000), Status.NOT_FOUND),
        PUT_IF_ABSENT(
                test -> test.shard.put("a", "2").when(Condition.IF_ABSENT).requestValue(true), Status.CONDITION_FAILED),
        PUT_IF_PRESENT(test -> test.shard.put("b", "2").when(Condition.IF_PRESENT), Status.NOT_FOUND),
        PUT_IF_VERSION(
                test -> test.shard.put("a", "2").when(Condition.IF_VERSION, test.version + 1), Status.CONDITION_FAILED),
        PUT_IF_ABSENT_SINCE(
                test -> test.shard.put("a", "2").when(Condition.IF_ABSENT_SINCE, test.version),
                Status.CONDITION_FAILED),
        PUT_THAT_IS_BORN_EXPIRED(test -> test.shard.put("b", "2").ttl(Ttl.IMMEDIATE, Ttl.IMMEDIATE), Status.OK),
        REMOVAL_OF_NOTHING(test -> test.shard.delete("b"), Status.NOT_FOUND),
        REMOVAL_IF_VERSION(
                test -> test.shard.delete("a").when(Condition.IF_VERSION, test.version + 1), Status.CONDITION_FAILED),
        TOUCH_OF_NOTHING(test -> test.shard.touch("b", 1), Status.NOT_FOUND),
        RETRY_OF_WHAT_WAS_APPLIED(test -> identified(test.shard.put("a", "1").requestValue(true), 1), Status.OK),
        RETRY_OF_WHAT_WAS_NOT_APPLIED(test -> identified(test.shard.delete("b"), 2), Status.NOT_FOUND),
        RETRY_THAT_NOBODY_AWAITS(test -> identified(test.shard.delete("a"), 0), Status.BAD_REQUEST),
        MUTATION_OF_NO_SESSION(
                test -> {
                    final Request put = test.shard.put("a", "2");
                    put.identified(OTHER_SESSION, 1, 0);
                    return put;
                },
                Status.SESSION_EXPIRED),
        OPENING_OF_WHAT_IS_OPEN(test -> test.shard.openSession(SESSION), Status.OK),
        CLOSING_OF_WHAT_IS_NOT_OPEN(test -> new Request().closeSession(0, OTHER_SESSION), Status.OK);

        private final Function<PermittedAnswersTest, Request> request;
        private final Status status;

        Alone(Function<PermittedAnswersTest, Request> request, Status status) {
            this.request = request;
            this.status = status;
        }
    }

    /** All responses since the first are awaited. */
    private static Request identified(Request request, long sequence) {
        request.identified(SESSION, sequence, (int) Math.max(0, sequence - 1));
        return request;
    }

    @BeforeEach
    void fill() {
        assertThat(shard.answered(shard.openSession(SESSION))).isEqualTo(Status.OK);
        final Request put = identified(shard.put("a", "1"), 1);
        assertThat(shard.answered(put)).isEqualTo(Status.OK);
        version = put.version();
        assertThat(shard.answered(identified(shard.delete("b"), 2))).isEqualTo(Status.NOT_FOUND);
        shard.asked = 0;
    }

    private void requireRefused(Request request, Status answer) {
        assertThat(answer).isEqualTo(Status.NOT_PRIMARY);
        assertThat(request.hasResult()).isFalse();
        assertThat(request.bits()).isZero();
        assertThat(request.version()).isZero();
        assertThat(shard.isNothingInFlight()).isTrue();
        assertThat(shard.isNothingLocked()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void shouldAnswerAloneWithALeaseOnly(Alone alone) {
        final long before = shard.last();
        shard.isLeased = false;
        final Request refused = alone.request.apply(this);
        requireRefused(refused, shard.answered(refused));
        assertThat(shard.asked).isOne();
        assertThat(shard.replica.sessions(SESSION).tick(0))
                .as("sessions not in use")
                .contains(SESSION);

        shard.isLeased = true;
        assertThat(shard.answered(alone.request.apply(this))).isEqualTo(alone.status);
        assertThat(shard.last()).as("nothing is written").isEqualTo(before);
    }

    /** The role leaves behind the read and behind the check of the lease. */
    @ParameterizedTest
    @EnumSource
    void shouldDropAnAnswerWhenAnotherServerIsThePrimaryByThen(Alone alone) {
        shard.onAsked = shard::leave;
        final Request refused = alone.request.apply(this);
        requireRefused(refused, shard.answered(refused));
    }

    /** What holds for the mutations of the test above. */
    @Test
    void shouldNeedNoLeaseForWhatTheBackupsHaveAcknowledged() {
        shard.isLeased = false;
        final Request put = identified(shard.put("a", "2"), 3).requestValue(true);
        assertThat(shard.answered(put)).isEqualTo(Status.OK);
        assertThat(put.resultBytes()).isEqualTo(bytes("1"));
        final Request get = shard.get("a").accessTtl(1_000);
        assertThat(shard.answered(get)).as("its new lifetime is logged").isEqualTo(Status.OK);
        assertThat(get.resultBytes()).isEqualTo(bytes("2"));
        assertThat(shard.answered(shard.delete("a"))).isEqualTo(Status.OK);
        assertThat(shard.answered(shard.openSession(OTHER_SESSION))).isEqualTo(Status.OK);
        assertThat(shard.answered(new Request().clear(LeasedShard.CACHE, 0))).isEqualTo(Status.OK);
        assertThat(shard.asked).isZero();
    }

    /** The client repeats what was not applied, with the same id; by then another client has removed the object. */
    @Test
    void shouldNotRememberARefusalAsTheAnswer() {
        shard.isLeased = false;
        final Request first = identified(shard.put("a", "2").when(Condition.IF_ABSENT), 3);
        assertThat(shard.answered(first)).isEqualTo(Status.NOT_PRIMARY);
        shard.isLeased = true;
        assertThat(shard.answered(shard.delete("a"))).isEqualTo(Status.OK);
        assertThat(shard.answered(identified(shard.put("a", "2").when(Condition.IF_ABSENT), 3)))
                .isEqualTo(Status.OK);
    }

    /** Without room, the new lifetime is dropped and the value is answered, as it was read under the lock. */
    @Test
    void shouldNotReadFromAFullStoreWithoutALease() {
        shard.fill();
        final Request refused = shard.get("a").accessTtl(1_000);
        shard.onAsked = () -> shard.isLeased = false;
        Status status = shard.answered(refused);
        for (int i = 0; i < 3 && status == null; i++) {
            shard.pressure.settle(2);
            status = shard.advanced(refused);
        }
        assertThat(status).as("the lease ended behind its check").isEqualTo(Status.OK);
        assertThat(refused.has(ResultBits.TOUCHED)).isFalse();

        final Request second = shard.get("a").accessTtl(1_000);
        status = shard.answered(second);
        for (int i = 0; i < 3 && status == null; i++) {
            shard.pressure.settle(2);
            status = shard.advanced(second);
        }
        requireRefused(second, status);
    }

    /** An object is ended first; what is answered afterwards is a read again. */
    @Test
    void shouldNotAnswerBehindAnExpiredObjectWithoutALease() {
        assertThat(shard.answered(shard.put("c", "1").ttl(1_000, 1_000))).isEqualTo(Status.OK);
        shard.clock.advanceMs(2_000);
        shard.isLeased = false;
        final Request get = shard.get("c").accessTtl(1_000);
        requireRefused(get, shard.answered(get));
    }

    /** A lease at the arrival is not one at the decision: that is behind the lock, for which it may have waited long. */
    @Test
    void shouldCheckTheLeaseWhenItDecidesAndNotWhenItArrives() {
        final LeasedShard backed = new LeasedShard(1);
        final Request put = backed.put("a", "1");
        backed.worker.begin(0, backed.primary, put);
        assertThat(backed.worker.advance(0)).isFalse();
        final Request conditional = backed.put("a", "2").when(Condition.IF_ABSENT);
        backed.worker.begin(1, backed.primary, conditional);
        assertThat(backed.worker.advance(1)).as("the key is locked").isFalse();
        assertThat(backed.asked).isZero();

        backed.isLeased = false;
        backed.replicator.acknowledge();
        backed.worker.poll();
        assertThat(backed.worker.advance(0)).isTrue();
        assertThat(put.status()).as("its last acknowledgement came").isEqualTo(Status.OK);
        assertThat(backed.worker.advance(1)).isTrue();
        assertThat(conditional.status()).isEqualTo(Status.NOT_PRIMARY);
    }
}
