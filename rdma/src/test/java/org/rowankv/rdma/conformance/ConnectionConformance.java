package org.rowankv.rdma.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.runtime.Chaos;

/** Contract of every fabric's connections: admission, and the credit of a queue pair. */
public abstract class ConnectionConformance {
    protected static final int SEGMENT = 4096;
    protected static final int TAG = 5;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    protected Fabric fabric;
    protected TestServer receiver;
    protected TestServer sender;
    protected final Entries entries = new Entries();

    protected abstract Fabric createFabric();

    @BeforeEach
    void openServers() {
        fabric = createFabric();
        receiver = TestServer.open(fabric, 1, 8, SEGMENT);
        sender = TestServer.open(fabric, 2, 8, SEGMENT);
    }

    @AfterEach
    void closeServers() {
        Chaos.reset();
        fabric.close();
    }

    /** Appends one entry and waits for its completion; fails unless it landed. */
    protected void append(QueuePair pair, long id, int length) {
        post(pair, id, length);
        assertThat(awaitCompletion(pair)).isEqualTo(new Completion(id, CompletionStatus.LANDED));
    }

    protected void post(QueuePair pair, long id, int length) {
        int status = pair.send(id, entries.make(id, length), 0, length, TAG);
        while (status == PostStatus.RECEIVER_NOT_READY && hearsLate()) {
            assertThat(pair.poll((context, landed) -> {}, 1)).isZero();
            status = pair.send(id, entries.make(id, length), 0, length, TAG);
        }
        assertThat(status).isEqualTo(PostStatus.POSTED);
    }

    /**
     * Whether the sender learns of the receiver's state by messages only: of a posted segment some time later; of one that
     * is lacking, when something already waits for it there.
     */
    protected boolean hearsLate() {
        return false;
    }

    protected record Completion(long context, int status) {}

    protected static Completion awaitCompletion(QueuePair pair) {
        final List<Completion> got = new ArrayList<>();
        while (got.isEmpty()) {
            pair.poll((context, status) -> got.add(new Completion(context, status)), 1);
            Thread.onSpinWait();
        }
        return got.get(0);
    }

    protected List<Long> landedIds() {
        return receiver.landed(TAG).stream().map(Landed::id).toList();
    }

    @Test
    void shouldRefuseAnUnknownPeer() {
        assertRefused(Reason.UNKNOWN_PEER, () -> sender.endpoint().connect(44, 1, 1));
        receiver.close();
        assertRefused(Reason.UNKNOWN_PEER, () -> sender.connectTo(receiver));
    }

    @Test
    void shouldRefuseAnotherIncarnation() {
        assertRefused(Reason.OTHER_INCARNATION, () -> sender.endpoint().connect(1, 2, 1));
        receiver.restart();
        assertRefused(Reason.OTHER_INCARNATION, () -> sender.connectTo(receiver));
    }

    @Test
    void shouldRefuseATermBeforeTheStartOfEitherSide() {
        receiver.view().start(5);
        assertRefused(Reason.STALE_TERM, () -> sender.endpoint().connect(1, 1, 1));
        sender.view().start(6);
        assertRefused(Reason.STALE_TERM, () -> sender.endpoint().connect(1, 1, 5));
        receiver.view().start(6);
        sender.endpoint().connect(1, 1, 6).close();
    }

    /** An attempt takes time: roles may have changed meanwhile, at either side. */
    @Test
    void shouldConnectInEachTermOfTheStartAndNoneThatIsNotPrepared() {
        receiver.view().start(5);
        sender.view().start(5);
        receiver.view().prepare(7);
        assertRefused(Reason.NOT_ADMITTED, () -> sender.endpoint().connect(1, 1, 6));
        sender.view().prepare(8);
        for (long term = 5; term <= 7; term++) {
            sender.endpoint().connect(1, 1, term).close();
        }
        assertRefused(Reason.NOT_ADMITTED, () -> sender.endpoint().connect(1, 1, 8));
    }

    @Test
    void shouldRefuseServersThatTheConfigurationExcludes() {
        receiver.view().exclude(2);
        assertRefused(Reason.NOT_ADMITTED, () -> sender.connectTo(receiver));
        receiver.view().readmit(2);
        sender.view().exclude(1);
        assertRefused(Reason.NOT_ADMITTED, () -> sender.connectTo(receiver));
    }

    @Test
    void shouldRefuseAnotherCluster() {
        final TestServer stranger =
                TestServer.open(fabric, 3, 1, 78, receiver.settings().region(), SEGMENT, 8);
        assertRefused(Reason.OTHER_CLUSTER, () -> stranger.connectTo(receiver));
        int status;
        do {
            status = stranger.endpoint().message(1, ByteBuffer.allocate(1));
        } while (status != PostStatus.UNREACHABLE && hearsLate());
        assertThat(status).isEqualTo(PostStatus.UNREACHABLE);
        assertThat(receiver.endpoint().pollMessages(10)).isZero();
    }

    @Test
    void shouldRefuseTheSameIncarnationTwice() {
        assertRefused(
                Reason.CLOSED,
                () -> TestServer.open(
                        fabric, 1, 1, TestServer.CLUSTER, receiver.settings().region(), SEGMENT, 8));
    }

    /** An endpoint that was looked up before it closed, and is used afterwards. */
    @Test
    void shouldBeAdmittedByNoEndpointThatClosesMeanwhile() {
        receiver.postAll();
        sender.view().onHandshake(receiver::close);
        assertRefused(Reason.UNKNOWN_PEER, () -> sender.connectTo(receiver));
        final TestServer next = receiver.restart();
        sender.view().onHandshake(next::restart);
        assertThatThrownBy(() -> sender.connectTo(next))
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.reason()).isIn(Reason.UNKNOWN_PEER, Reason.OTHER_INCARNATION));
    }

    @Test
    void shouldOpenNothingFromAnEndpointThatClosesMeanwhile() {
        receiver.postAll();
        sender.view().onHandshake(sender::close);
        assertRefused(Reason.CLOSED, () -> sender.connectTo(receiver));
    }

    private static void assertRefused(Reason reason, Runnable action) {
        assertThatThrownBy(action::run)
                .isInstanceOfSatisfying(
                        FabricException.class, e -> assertThat(e.reason()).isEqualTo(reason));
    }

    @Test
    void shouldAcquireCreditFromTheReceiver() {
        receiver.credit().set(1000);
        final QueuePair pair = sender.connectTo(receiver);
        assertThat(draw(pair, 600)).isEqualTo(600);
        assertThat(receiver.credit().get()).isLessThanOrEqualTo(400);
        assertThat(draw(pair, 400)).isEqualTo(400);
        assertThat(receiver.credit()).hasValue(0);
        for (int i = 0; i < 100; i++) {
            assertThat(pair.acquireCredit(600)).isZero();
        }
        pair.returnCredit(300);
        receiver.queue().fence(2);
        while (!pair.isFenced()) {
            Thread.onSpinWait();
        }
        assertThat(pair.acquireCredit(10)).isZero();
        pair.returnCredit(700);
        pair.close();
        while (receiver.credit().get() != 1000) {
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldHaveAllCreditBackWhenQueuePairsCloseAtAnyTime() {
        receiver.credit().set(1_000_000);
        for (int round = 0; round < 50; round++) {
            final QueuePair pair = sender.connectTo(receiver);
            long drawn = 0;
            for (int i = 0; i < round; i++) {
                drawn += pair.acquireCredit(100 + i);
            }
            if (round % 3 == 0) {
                pair.returnCredit(drawn / 2);
                drawn -= drawn / 2;
            }
            if (round % 2 == 0) {
                pair.returnCredit(drawn);
                pair.close();
            } else {
                pair.close();
                pair.returnCredit(drawn);
            }
        }
        while (receiver.credit().get() != 1_000_000) {
            Thread.onSpinWait();
        }
    }

    /** Unclaimed grants return to the receiver, whichever pair returns credit. */
    @Test
    void shouldKeepNoCreditThatAQueuePairWasGrantedAndDidNotClaim() {
        final long initial = 100_000;
        receiver.credit().set(initial);
        long used = 0;
        for (int round = 1; round <= 20; round++) {
            final QueuePair pair = sender.connectTo(receiver);
            final long claimed = 10L * round;
            // Where the response is late, the first call only requests, and more than the next ones claim.
            long drawn = pair.acquireCredit(claimed * round);
            while (drawn < claimed) {
                drawn += pair.acquireCredit(claimed - drawn);
                Thread.onSpinWait();
            }
            if (round % 3 == 0) {
                pair.returnCredit(claimed / 2);
                drawn -= claimed / 2;
            }
            pair.close();
            used += drawn;
        }
        final long left = initial - used;
        await().atMost(PATIENCE).until(() -> receiver.credit().get() == left);
    }

    /** Requests until it has that much. */
    private static long draw(QueuePair pair, long requested) {
        long drawn = 0;
        while (drawn < requested) {
            drawn += pair.acquireCredit(requested - drawn);
            Thread.onSpinWait();
        }
        return drawn;
    }
}
