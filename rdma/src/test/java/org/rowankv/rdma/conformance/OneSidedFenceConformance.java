package org.rowankv.rdma.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.rdma.rowan.LandingCursor;
import org.rowankv.runtime.Chaos;

/**
 * Further duties of a fence on a fabric whose sender places its own messages, with the sender stopped at any of its
 * steps. Each fabric names its chaos points.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class OneSidedFenceConformance extends FenceConformance {
    /** Points that a SEND passes, in order. */
    protected abstract List<String> sendPoints();

    /** Points of a SEND at which its place is in the hazard word. */
    protected abstract List<String> holdingPoints();

    /** The last point before a reservation is attempted, and the first after one was made. */
    protected abstract String beforeReservation();

    protected abstract String afterReservation();

    /** Points inside a fence. */
    protected abstract List<String> fencePoints();

    private Stall<Outcome> stallSend(QueuePair pair, String point, long id) {
        final Stall<Outcome> stall = Stall.at(point, () -> send(pair, id));
        assertThat(stall.isHeld()).as("held at %s", point).isTrue();
        return stall;
    }

    Stream<String> everySendPoint() {
        return sendPoints().stream();
    }

    Stream<String> everyHoldingPoint() {
        return holdingPoints().stream();
    }

    Stream<String> everyFencePoint() {
        return fencePoints().stream();
    }

    @ParameterizedTest
    @MethodSource("everySendPoint")
    void shouldLandNothingAfterTheFenceOfASenderStoppedAt(String point) {
        send(stalledPair, 1);
        try (Stall<Outcome> stall = stallSend(stalledPair, point, 2)) {
            receiver.queue().fence(2);
            final List<Long> atFence = landedIds();
            assertThat(send(otherPair, 3).landed()).isTrue();
            // No hole is left: entries of others are readable at once.
            assertThat(landedIds()).containsAll(atFence).endsWith(3L);
            final boolean landed = stall.release().landed();
            assertThat(landed).isEqualTo(atFence.contains(2L));
            assertThat(landedIds()).filteredOn(id -> id == 2).hasSize(landed ? 1 : 0);
            assertThat(send(stalledPair, 4).post()).isEqualTo(PostStatus.FENCED);
            assertThat(landedIds()).doesNotContain(4L);
        }
    }

    @ParameterizedTest
    @MethodSource("everySendPoint")
    void shouldNotDelayOthersWhileASenderIsStoppedAt(String point) {
        try (Stall<Outcome> stall = stallSend(stalledPair, point, 1)) {
            for (long id = 10; id < 60; id++) {
                assertThat(send(otherPair, id).landed()).isTrue();
            }
            assertThat(stall.release().landed()).isTrue();
        }
        assertThat(landedIds()).hasSize(51).contains(1L);
    }

    @ParameterizedTest
    @MethodSource("everyHoldingPoint")
    void shouldKeepTheSegmentInQuarantineUntilTheSenderHasLeftIt(String point) {
        try (Stall<Outcome> stall = stallSend(stalledPair, point, 1)) {
            assertThat(receiver.queue().isNamed(0)).isTrue();
            final FenceReport report = receiver.queue().fence(2);
            assertThat(report.servers()).containsExactly(2);
            assertThat(report.fencedPairs()).isEqualTo(1);
            assertThat(report.namingPairs()).isEqualTo(1);
            assertThat(receiver.queue().isNamed(0)).isTrue();
            assertThat(receiver.queue().isNamed(1)).isFalse();
            stall.release();
            assertThat(receiver.queue().isNamed(0)).isFalse();
            assertThat(receiver.queue().fence(2).namingPairs()).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("everySendPoint")
    void shouldFenceEveryoneAndKeepTheQuarantineWhenTheReceiverStartsAgain(String point) {
        // The area outlives the endpoint, and so does a sender inside it.
        try (Stall<Outcome> stall = stallSend(stalledPair, point, 1)) {
            final boolean named = receiver.queue().isNamed(0);
            final TestServer next = receiver.restart();
            assertThat(next.queue().isNamed(0)).isEqualTo(named);
            assertThat(next.post(5)).isTrue();
            assertThat(send(otherPair, 2).post()).isEqualTo(PostStatus.FENCED);
            otherPair = otherServer.connectTo(next);
            assertThat(send(otherPair, 3).landed()).isTrue();
            final boolean landed = stall.release().landed();
            // It may have landed before, in the log of the former incarnation, never in this one.
            assertThat(landed)
                    .isEqualTo(point.equals(sendPoints().get(sendPoints().size() - 1)));
            assertThat(next.landed(TAG)).extracting(Landed::id).containsExactly(3L);
            assertThat(next.queue().isNamed(0)).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("everySendPoint")
    void shouldLeaveNoHoleWhenASendIsBrokenOffAt(String point) {
        Chaos.install(name -> {
            if (name.equals(point)) {
                throw new StackOverflowError("planted");
            }
        });
        assertThatThrownBy(() -> send(stalledPair, 1)).hasMessage("planted");
        Chaos.reset();
        stalledPair.poll((context, status) -> {}, 10);
        assertThat(send(stalledPair, 2).landed()).isTrue();
        assertThat(landedIds()).endsWith(2L);
        assertThat(receiver.queue().isNamed(0)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("everyFencePoint")
    void shouldNotDelayOthersWhileTheFencerIsStoppedAt(String point) {
        send(stalledPair, 1);
        try (Stall<FenceReport> stall = Stall.at(point, () -> receiver.queue().fence(2))) {
            for (long id = 10; id < 60; id++) {
                assertThat(send(otherPair, id).landed()).isTrue();
            }
            assertThat(send(stalledPair, 2).post()).isEqualTo(PostStatus.FENCED);
            assertThat(stall.release().fencedPairs()).isEqualTo(1);
        }
        assertThat(landedIds()).hasSize(51).doesNotContain(2L);
    }

    @Test
    void shouldVoidTheRequestedHoleAndFenceItsHolderOnly() {
        final QueuePair sibling = stalledServer.connectTo(receiver);
        final LandingCursor cursor = receiver.cursor();
        try (Stall<Outcome> stall = stallSend(stalledPair, afterReservation(), 1)) {
            // No helper has run: the slot has no word yet.
            assertThat(receiver.read(cursor, TAG)).isEmpty();
            assertThat(cursor.isAtHole()).isTrue();
            assertThat(cursor.holeAgeNs(1000)).isZero();
            send(otherPair, 2);
            assertThat(receiver.read(cursor, TAG)).isEmpty();
            assertThat(cursor.holeAgeNs(5000)).isEqualTo(4000);

            final int segment = receiver.queue().segmentAt(cursor.ordinal());
            final FenceReport report = receiver.queue().fenceHole(segment, cursor.offset());
            assertThat(report.servers()).containsExactly(2);
            assertThat(report.voidedAddresses())
                    .containsExactly(receiver.settings().segmentAddress(0));
            assertThat(receiver.read(cursor, TAG)).extracting(Landed::id).containsExactly(2L);
            assertThat(cursor.isAtHole()).isFalse();
            assertThat(cursor.holeAgeNs(9000)).isZero();
            assertThat(sibling.isFenced()).isFalse();
            assertThat(otherPair.isFenced()).isFalse();
            assertThat(stall.release()).isEqualTo(new Outcome(PostStatus.POSTED, CompletionStatus.FENCED));
        }
        assertThat(send(sibling, 3).landed()).isTrue();
        assertThat(landedIds()).containsExactly(2L, 3L);
    }

    @Test
    void shouldCountTheAgeOfEachHoleFromItsOwnBeginning() {
        final LandingCursor cursor = receiver.cursor();
        try (Stall<Outcome> first = stallSend(stalledPair, afterReservation(), 1);
                Stall<Outcome> second = stallSend(otherPair, afterReservation(), 2)) {
            assertThat(receiver.read(cursor, TAG)).isEmpty();
            assertThat(cursor.holeAgeNs(1000)).isZero();
            assertThat(cursor.holeAgeNs(9000)).isEqualTo(8000);
            assertThat(first.release().landed()).isTrue();
            assertThat(receiver.read(cursor, TAG)).extracting(Landed::id).containsExactly(1L);
            assertThat(cursor.isAtHole()).isTrue();
            assertThat(cursor.holeAgeNs(10_000)).isZero();
            assertThat(cursor.holeAgeNs(10_500)).isEqualTo(500);
            // So does one that is put there.
            cursor.position(cursor.ordinal(), cursor.offset());
            assertThat(cursor.holeAgeNs(20_000)).isZero();
            assertThat(receiver.read(cursor, TAG)).isEmpty();
            assertThat(cursor.holeAgeNs(30_000)).isZero();
            assertThat(cursor.holeAgeNs(30_001)).isEqualTo(1);
            assertThat(second.release().landed()).isTrue();
        }
        assertThat(receiver.read(cursor, TAG)).extracting(Landed::id).containsExactly(2L);
        assertThat(cursor.isAtHole()).isFalse();
    }

    @Test
    void shouldFailALiveSenderWhoseReservationAFenceOfAnotherVoids() {
        try (Stall<Outcome> loser = stallSend(stalledPair, beforeReservation(), 1);
                Stall<Outcome> winner = stallSend(otherPair, afterReservation(), 2)) {
            final FenceReport report = receiver.queue().fence(2);
            assertThat(report.voidedAddresses()).hasSize(1);
            assertThat(winner.release()).isEqualTo(new Outcome(PostStatus.POSTED, CompletionStatus.VOIDED));
            assertThat(loser.release().post()).isEqualTo(PostStatus.FENCED);
        }
        assertThat(otherPair.isFenced()).isFalse();
        assertThat(send(otherPair, 2).landed()).isTrue();
        assertThat(landedIds()).containsExactly(2L);
    }
}
