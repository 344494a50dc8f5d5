package org.rowankv.rdma.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.rdma.rowan.FrameChecksum;
import org.rowankv.rdma.rowan.FrameDescriptor;

/**
 * What every fabric must do, whatever moves its bytes: placement, order, acknowledgement, exhaustion, messages, and all
 * that connections need. Extended once per fabric. Fences, the reserve and forcing have suites of their own.
 */
public abstract class FabricConformance extends ConnectionConformance {
    /**
     * Posts entries until the receiver has no room for them; returns the ids that were posted. On a fabric that
     * learns that late these may be as many as can be in flight, which must have room in the rest of the area.
     */
    protected List<Long> postUntilNotReady(QueuePair pair, long firstId, int length, List<Completion> completed) {
        final List<Long> posted = new ArrayList<>();
        long id = firstId;
        int status;
        do {
            status = pair.send(id, entries.make(id, length), 0, length, TAG);
            if (status == PostStatus.POSTED) {
                posted.add(id);
                id++;
            }
            pair.poll((context, landed) -> completed.add(new Completion(context, landed)), 10);
        } while (status != PostStatus.RECEIVER_NOT_READY);
        return posted;
    }

    protected static void awaitAll(QueuePair pair, int count, List<Completion> completed) {
        while (completed.size() < count) {
            pair.poll((context, landed) -> completed.add(new Completion(context, landed)), 10);
            Thread.onSpinWait();
        }
    }

    protected static void assertAllLanded(List<Completion> completed) {
        assertThat(completed).allMatch(each -> each.status() == CompletionStatus.LANDED);
    }

    @Test
    void shouldPlaceEntriesOneAfterTheOtherAtStrides() {
        receiver.postAll();
        try (QueuePair pair = sender.connectTo(receiver)) {
            append(pair, 1, 40);
            append(pair, 2, 64);
            append(pair, 3, 65);
            append(pair, 4, 200);
        }
        final List<Landed> landed = receiver.landed(TAG);
        final long base = receiver.settings().segmentAddress(0);
        assertThat(landed)
                .containsExactly(
                        new Landed(1, 0, base, 64),
                        new Landed(2, 0, base + 64, 64),
                        new Landed(3, 0, base + 128, 128),
                        new Landed(4, 0, base + 256, 256));
        assertThat(landed)
                .allSatisfy(each -> assertThat((each.address() - base) % 64).isZero());
    }

    /** A landing never shares a stride, so memory that writes whole strides reads none before. */
    @RepeatedTest(8)
    void shouldLandInWholeStridesWhateverTheLengths(RepetitionInfo repetition) {
        receiver.postAll();
        final Random random = new Random(repetition.getCurrentRepetition());
        final List<Integer> lengths =
                random.ints(40, Entries.MIN_LENGTH, 400).boxed().toList();
        try (QueuePair pair = sender.connectTo(receiver)) {
            for (int i = 0; i < lengths.size(); i++) {
                append(pair, i, lengths.get(i));
            }
        }
        final List<Landed> landed = receiver.landed(TAG);
        assertThat(landed).hasSameSizeAs(lengths);
        for (int i = 0; i < lengths.size(); i++) {
            final Landed entry = landed.get(i);
            assertThat(entry.address() % FrameDescriptor.STRIDE).isZero();
            assertThat(entry.length() % FrameDescriptor.STRIDE).isZero();
            assertThat(entry.length() - lengths.get(i)).isBetween(0, FrameDescriptor.STRIDE - 1);
            if (i > 0 && landed.get(i - 1).segment() == entry.segment()) {
                final Landed before = landed.get(i - 1);
                assertThat(entry.address()).isEqualTo(before.address() + before.length());
            }
        }
    }

    @Test
    void shouldPlaceWhateverItsSourceWas() {
        receiver.postAll();
        final ByteBuffer made = entries.make(9, 300);
        final ByteBuffer heap = ByteBuffer.allocate(1000).order(ByteOrder.LITTLE_ENDIAN);
        heap.put(128, made, 0, 300);
        try (QueuePair pair = sender.connectTo(receiver)) {
            assertThat(pair.send(9, heap, 128, 300, TAG)).isEqualTo(PostStatus.POSTED);
            assertThat(awaitCompletion(pair).status()).isEqualTo(CompletionStatus.LANDED);
        }
        assertThat(landedIds()).containsExactly(9L);
    }

    @Test
    void shouldKeepTheOrderOfEachSenderInOneLog() {
        receiver.postAll();
        try (TestServer third = TestServer.open(fabric, 3, 1, SEGMENT);
                QueuePair one = sender.connectTo(receiver);
                QueuePair two = third.connectTo(receiver)) {
            for (int i = 0; i < 50; i++) {
                append(one, 1000 + i, 40 + i);
                append(two, 2000 + i, 300 - i);
            }
        }
        final List<Long> ids = landedIds();
        assertThat(ids).hasSize(100);
        assertThat(ids.stream().filter(id -> id < 2000).toList()).isSorted();
        assertThat(ids.stream().filter(id -> id >= 2000).toList()).isSorted();
    }

    @Test
    void shouldAcknowledgeOnlyWhatHasLanded() {
        receiver.postAll();
        try (QueuePair pair = sender.connectTo(receiver)) {
            for (long id = 1; id <= 20; id++) {
                append(pair, id, 100);
                assertThat(landedIds()).last().isEqualTo(id);
            }
        }
    }

    @Test
    void shouldReportReceiverNotReadyAndGoOnWhenASegmentIsPosted() {
        final int room = SEGMENT / 1024;
        final List<Completion> completed = new ArrayList<>();
        try (QueuePair pair = sender.connectTo(receiver)) {
            assertThat(pair.send(1, entries.make(1, 64), 0, 64, TAG)).isEqualTo(PostStatus.RECEIVER_NOT_READY);
            assertThat(receiver.post(3)).isTrue();
            append(pair, 1, 1000);
            final List<Long> posted = new ArrayList<>(postUntilNotReady(pair, 2, 1000, completed));
            awaitAll(pair, room - 1, completed);
            assertThat(landedIds()).containsExactly(1L, 2L, 3L, 4L);
            assertThat(hearsLate() || posted.size() == room - 1).isTrue();
            assertThat(pair.send(99, entries.make(99, 64), 0, 64, TAG)).isEqualTo(PostStatus.RECEIVER_NOT_READY);
            for (int segment = 0; segment < 8; segment++) {
                assertThat(segment == 3 || receiver.post(segment)).isTrue();
            }
            // Waiting entries land by themselves, once and in order, before later ones.
            awaitAll(pair, posted.size(), completed);
            final long next = posted.get(posted.size() - 1) + 1;
            append(pair, next, 1000);
            posted.add(0, 1L);
            posted.add(next);
            assertThat(landedIds()).isEqualTo(posted);
            assertAllLanded(completed);
        }
    }

    @Test
    void shouldMoveToTheNextSegmentWithoutPadding() {
        receiver.postAll();
        try (QueuePair pair = sender.connectTo(receiver)) {
            append(pair, 1, SEGMENT - 192);
            assertThat(receiver.queue().isClosed(0)).isFalse();
            append(pair, 2, 256);
            assertThat(receiver.queue().isClosed(0)).isTrue();
            assertThat(receiver.queue().landedLimit(0)).isEqualTo(SEGMENT - 192);
            assertThat(receiver.queue().landedLimit(1)).isEqualTo(256);
            assertThat(receiver.queue().landedLimit(2)).isZero();
            assertThat(receiver.queue().currentOrdinal()).isEqualTo(1);
        }
        assertThat(landedIds()).containsExactly(1L, 2L);
    }

    @Test
    void shouldLetSegmentsBeUsedAgain() {
        final List<Long> sent = new ArrayList<>();
        final List<Long> got = new ArrayList<>();
        final var cursor = receiver.cursor();
        int posted = 0;
        try (QueuePair pair = sender.connectTo(receiver)) {
            for (long id = 1; id <= 400; id++) {
                final EndpointSettings settings = receiver.settings();
                while (receiver.queue().ahead() < 2) {
                    final int segment = posted++ % settings.segmentCount();
                    assertThat(receiver.queue().isNamed(segment)).isFalse();
                    assertThat(receiver.post(segment)).isTrue();
                }
                append(pair, id, 900);
                sent.add(id);
                receiver.read(cursor, TAG).forEach(landed -> got.add(landed.id()));
            }
        }
        assertThat(got).isEqualTo(sent);
        assertThat(receiver.queue().currentOrdinal())
                .isGreaterThan(2L * receiver.settings().segmentCount());
    }

    /** A receiver's digest may lag by all segments, however many there are. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 5, 6, 7})
    void shouldRememberEachPostedSegmentUntilItIsPostedAgain(int segments) {
        final int length = 4 * EndpointSettings.STRIDE;
        final List<Long> sent = new ArrayList<>();
        final List<Long> read = new ArrayList<>();
        try (TestServer small = TestServer.open(fabric, 4, segments, length);
                QueuePair pair = sender.connectTo(small)) {
            final var cursor = small.cursor();
            small.postAll();
            for (int round = 0; round < 3; round++) {
                while (sent.size() < small.queue().postedCount()) {
                    sent.add(sent.size() + 1L);
                    append(pair, sent.size(), length);
                }
                final long from = cursor.ordinal();
                small.read(cursor, TAG).forEach(each -> read.add(each.id()));
                assertThat(read).isEqualTo(sent);
                for (long ordinal = from; ordinal < cursor.ordinal(); ordinal++) {
                    assertThat(small.post(small.queue().segmentAt(ordinal))).isTrue();
                }
            }
        }
    }

    @Test
    void shouldPostNoMoreThanAllowed() {
        final TestServer small = TestServer.open(
                fabric, 9, 1, TestServer.CLUSTER, receiver.settings().region(), SEGMENT, 2);
        assertThat(LongStream.range(0, 5).filter(i -> small.post((int) i)).count())
                .isBetween(2L, 3L);
    }

    @Test
    void shouldRefuseWhatIsLongerThanItsMaximum() {
        receiver.postAll();
        final int tooLong = fabric.capabilities().maxMessage() + 1;
        try (QueuePair pair = sender.connectTo(receiver)) {
            assertThat(pair.send(1, entries.make(1, tooLong), 0, tooLong, TAG)).isEqualTo(PostStatus.TOO_LARGE);
            assertThat(pair.send(1, entries.make(1, SEGMENT + 1), 0, SEGMENT + 1, TAG))
                    .isEqualTo(PostStatus.TOO_LARGE);
            append(pair, 2, SEGMENT);
        }
        assertThat(landedIds()).containsExactly(2L);
    }

    @Test
    void shouldRequirePollingBeforeItDropsCompletions() {
        receiver.postAll();
        try (QueuePair pair = sender.connectTo(receiver)) {
            final List<Long> completed = new ArrayList<>();
            long id = 0;
            int status;
            do {
                id++;
                status = pair.send(id, entries.make(id, 40), 0, 40, TAG);
            } while (status == PostStatus.POSTED);
            assertThat(status).isEqualTo(PostStatus.QUEUE_FULL);
            while (completed.size() < id - 1) {
                pair.poll((context, landed) -> completed.add(context), 10);
            }
            assertThat(completed).isEqualTo(LongStream.range(1, id).boxed().toList());
            append(pair, id, 40);
        }
    }

    @Test
    void shouldLandWhatIsSentTwiceTwice() {
        // The fabric does not detect duplicates: an entry's version does.
        receiver.postAll();
        try (QueuePair pair = sender.connectTo(receiver);
                QueuePair again = sender.connectTo(receiver)) {
            append(pair, 1, 100);
            append(again, 1, 100);
            append(pair, 1, 100);
        }
        assertThat(landedIds()).containsExactly(1L, 1L, 1L);
    }

    @Test
    void shouldKeepTheOrderOfManyInFlight() {
        receiver.postAll();
        final List<Completion> completed = new ArrayList<>();
        try (QueuePair pair = sender.connectTo(receiver)) {
            long id = 1;
            while (id <= 100) {
                final int length = 44 + (int) (id * 37 % 200);
                if (pair.send(id, entries.make(id, length), 0, length, TAG) == PostStatus.POSTED) {
                    id++;
                } else {
                    pair.poll((context, landed) -> completed.add(new Completion(context, landed)), 10);
                }
            }
            awaitAll(pair, 100, completed);
        }
        final List<Long> ids = LongStream.rangeClosed(1, 100).boxed().toList();
        assertThat(landedIds()).isEqualTo(ids);
        assertThat(completed).extracting(Completion::context).isEqualTo(ids);
        assertAllLanded(completed);
    }

    @Test
    void shouldCarryMessagesWithTheirSender() {
        final ByteBuffer message = ByteBuffer.allocate(8).put(new byte[] {9, 1, 2, 3, 9, 9, 9, 9});
        message.position(1).limit(4);
        assertThat(sender.endpoint().message(1, message)).isEqualTo(PostStatus.POSTED);
        assertThat(message.position()).isEqualTo(1);
        message.put(2, (byte) 77);
        while (receiver.endpoint().pollMessages(10) == 0) {
            Thread.onSpinWait();
        }
        assertThat(receiver.received())
                .containsExactly(new TestServer.Received(2, 1, List.of((byte) 1, (byte) 2, (byte) 3)));
        assertThat(sender.endpoint().message(55, message)).isEqualTo(PostStatus.UNREACHABLE);
    }

    @Test
    void shouldNotQueueMessagesWithoutEnd() {
        int status;
        int sent = 0;
        do {
            status = sender.endpoint().message(1, ByteBuffer.allocate(4));
            sent++;
        } while (status == PostStatus.POSTED && sent < 1_000_000);
        assertThat(status).isEqualTo(PostStatus.QUEUE_FULL);
    }

    @Test
    void shouldLeaveBytesThatOnlyLookLikeEntriesAlone() {
        // The body of an entry is a copy of log bytes, of this very segment and generation.
        receiver.postAll();
        try (QueuePair pair = sender.connectTo(receiver)) {
            append(pair, 1, 64);
            final long base = receiver.settings().segmentAddress(0);
            final ByteBuffer log = receiver.settings().region().buffer(base);
            final int at = receiver.settings().region().offset(base);
            final ByteBuffer forged = ByteBuffer.allocateDirect(128).order(ByteOrder.LITTLE_ENDIAN);
            forged.put(64, log, at, 64);
            final int crc = new FrameChecksum().body(forged, FrameDescriptor.HEADER_LENGTH, 104);
            FrameDescriptor.source(forged, 0, 128, Entries.TYPE, crc);
            assertThat(pair.send(2, forged, 0, 128, TAG)).isEqualTo(PostStatus.POSTED);
            assertThat(awaitCompletion(pair).status()).isEqualTo(CompletionStatus.LANDED);
            final int copy = at + 64 + 64;
            assertThat(FrameDescriptor.wordAcquire(log, copy)).isEqualTo(FrameDescriptor.wordAcquire(log, at));
            assertThat(FrameDescriptor.whyInvalid(
                            log,
                            copy,
                            at + SEGMENT,
                            base + 128,
                            receiver.queue().generationAt(0),
                            new FrameChecksum()))
                    .contains("placement");
        }
    }
}
