package org.rowankv.rdma.rowan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.rdma.local.LocalFabric;
import org.rowankv.runtime.SplittableRandomSource;

/** Sender, receiver and cursor of the Rowan primitive, stepped by the test. */
final class RowanEndsTest {
    private static final int SEGMENT = 1024;

    private final Entries entries = new Entries();
    private final Deque<Integer> free = new ArrayDeque<>();
    private final List<Integer> takenBack = new ArrayList<>();
    /** By segment: of its last use. */
    private final Map<Integer, Integer> drawn = new HashMap<>();

    private final Map<Integer, Integer> returnedCredit = new HashMap<>();
    private Fabric fabric;
    private TestServer server;
    private QueuePair sender;
    private RowanReceiver receiver;

    @BeforeEach
    void open() {
        fabric = new LocalFabric();
        server = TestServer.open(fabric, 1, 16, SEGMENT);
        sender = TestServer.open(fabric, 2, 1, SEGMENT).connectTo(server);
        receiver = new RowanReceiver(server.queue(), new FreeList(server.settings()), 1, 4);
    }

    @AfterEach
    void close() {
        sender.close();
        fabric.close();
    }

    /** Free segments in the order in which they were freed. */
    private final class FreeList implements SegmentSupplier {
        private final EndpointSettings settings;
        private final GenerationSource source = new GenerationSource(new SplittableRandomSource(1));

        FreeList(EndpointSettings settings) {
            this.settings = settings;
        }

        @Override
        public int take(int[] segments, int[] generations, int requested) {
            int count = 0;
            while (count < requested && !free.isEmpty()) {
                final long base = settings.segmentAddress(free.getFirst());
                segments[count] = free.removeFirst();
                generations[count] = source.draw(
                        settings.region().buffer(base), settings.region().offset(base), settings.segmentLength());
                drawn.put(segments[count], generations[count]);
                count++;
            }
            return count;
        }

        @Override
        public void takeBack(int segment, int generation) {
            takenBack.add(segment);
            returnedCredit.put(segment, generation);
        }
    }

    private int append(long id, int length) {
        final int status = sender.send(id, entries.make(id, length), 0, length, 0);
        sender.poll((context, completed) -> assertThat(completed).isEqualTo(CompletionStatus.LANDED), 10);
        return status;
    }

    @Test
    void shouldPostInBatchesInAddressOrder() {
        free.addAll(List.of(9, 3, 12, 1, 5, 0));
        assertThat(receiver.replenish()).isEqualTo(4);
        assertThat(receiver.replenish()).as("enough are ahead").isZero();
        final List<Integer> order = new ArrayList<>();
        for (int ordinal = 0; ordinal < 4; ordinal++) {
            order.add(server.queue().segmentAt(ordinal));
        }
        assertThat(order).containsExactly(1, 3, 9, 12);
        for (int id = 1; id <= 4; id++) {
            append(id, SEGMENT);
        }
        assertThat(receiver.replenish()).isEqualTo(2);
        assertThat(server.queue().segmentAt(4)).isZero();
        assertThat(server.queue().segmentAt(5)).isEqualTo(5);
        assertThat(receiver.ahead()).isEqualTo(3);
    }

    /** In whatever order segments were freed, and whatever part of a batch is posted. */
    @RepeatedTest(20)
    void shouldPostEachSegmentUnderTheGenerationThatWasDrawnForIt(RepetitionInfo repetition) {
        final Random random = new Random(repetition.getCurrentRepetition());
        final int maxPosted = 1 + random.nextInt(15);
        final int batch = 1 + random.nextInt(16);
        final MemoryRegion area = MemoryRegion.of(ByteBuffer.allocateDirect(TestServer.BASE + 16 * SEGMENT));
        try (TestServer own = TestServer.open(fabric, 5, 1, TestServer.CLUSTER, area, SEGMENT, maxPosted)) {
            final List<Integer> order =
                    new ArrayList<>(IntStream.range(0, 16).boxed().toList());
            Collections.shuffle(order, random);
            free.addAll(order);
            final RowanReceiver posting = new RowanReceiver(own.queue(), new FreeList(own.settings()), 16, batch);
            final Map<Integer, Integer> posted = new HashMap<>();
            int count = posting.replenish();
            while (count > 0) {
                final List<Integer> together = new ArrayList<>();
                for (long ordinal = own.queue().postedCount() - count;
                        ordinal < own.queue().postedCount();
                        ordinal++) {
                    together.add(own.queue().segmentAt(ordinal));
                    posted.put(own.queue().segmentAt(ordinal), own.queue().generationAt(ordinal));
                }
                assertThat(together).isSorted();
                count = posting.replenish();
            }
            assertThat(posted).hasSizeGreaterThanOrEqualTo(Math.min(maxPosted, 16));
            posted.putAll(returnedCredit);
            assertThat(posted).isEqualTo(drawn);
        }
    }

    @Test
    void shouldReturnSegmentsThatItCouldNotPost() {
        free.addAll(List.of(4, 2));
        server.close();
        assertThat(receiver.replenish()).isZero();
        assertThat(takenBack).containsExactly(2, 4);
    }

    @Test
    void shouldChooseABatchThatASmallAreaCanSpare() {
        assertThat(RowanReceiver.batchFor(1)).isEqualTo(1);
        assertThat(RowanReceiver.batchFor(64)).isEqualTo(4);
        assertThat(RowanReceiver.batchFor(1_000_000)).isEqualTo(64);
        assertThatThrownBy(() -> new RowanReceiver(server.queue(), new FreeList(server.settings()), 0, 1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldRefuseWithoutAPostedSegmentAndBehindAFence() {
        assertThat(append(1, 100)).isEqualTo(PostStatus.RECEIVER_NOT_READY);
        server.postAll();
        assertThat(append(1, 100)).isEqualTo(PostStatus.POSTED);
        assertThat(sender.send(3, entries.make(3, 64), 0, 64, 0)).isEqualTo(PostStatus.POSTED);
        assertThat(sender.poll((context, status) -> assertThat(context).isEqualTo(3), 1))
                .isEqualTo(1);
        server.queue().fenceAll();
        assertThat(append(4, 100)).isEqualTo(PostStatus.FENCED);
        assertThat(sender.isFenced()).isTrue();
    }

    @Test
    void shouldReadInOrderAcrossSegmentsAndReportWhenOneIsClosed() {
        server.postAll();
        final LandingCursor cursor = server.cursor();
        final List<String> seen = new ArrayList<>();
        final LandingHandler handler = new LandingHandler() {
            @Override
            public void onFrame(int segment, long address, int type, int lengthBytes) {
                seen.add("frame in " + segment + " of " + lengthBytes);
            }

            @Override
            public void onSegmentClosed(long ordinal, int segment) {
                seen.add("closed " + ordinal);
            }
        };
        assertThat(cursor.poll(handler, 10)).isZero();
        append(1, 640);
        append(2, 384);
        assertThat(cursor.poll(handler, 10)).isEqualTo(2);
        assertThat(cursor.poll(handler, 10)).as("full is not closed").isZero();
        append(3, 1000);
        append(4, 40);
        assertThat(cursor.poll(handler, 2)).isEqualTo(2);
        assertThat(cursor.poll(handler, 1)).isEqualTo(1);
        assertThat(cursor.poll(handler, 10)).isEqualTo(1);
        assertThat(seen)
                .containsExactly(
                        "frame in 0 of 640",
                        "frame in 0 of 384",
                        "closed 0",
                        "frame in 1 of 1024",
                        "closed 1",
                        "frame in 2 of 64");
        assertThat(cursor.ordinal()).isEqualTo(2);
        assertThat(cursor.offset()).isEqualTo(64);
    }

    @Test
    void shouldReadOnFromWhereItIsPut() {
        server.postAll();
        for (int id = 1; id <= 10; id++) {
            append(id, 256);
        }
        final LandingCursor cursor = server.cursor();
        cursor.position(1, 512);
        assertThat(server.read(cursor, 0)).extracting(Landed::id).containsExactly(7L, 8L, 9L, 10L);
        cursor.position(0, SEGMENT);
        assertThat(server.read(cursor, 0)).hasSize(6);
    }

    @Test
    void shouldDeliverAnEntryAgainWhenItsHandlerThrew() {
        server.postAll();
        append(1, 64);
        final LandingCursor cursor = server.cursor();
        final LandingHandler failing = new LandingHandler() {
            @Override
            public void onFrame(int segment, long address, int type, int lengthBytes) {
                throw new IllegalStateException("planted");
            }

            @Override
            public void onSegmentClosed(long ordinal, int segment) {
                // Not reached.
            }
        };
        assertThatThrownBy(() -> cursor.poll(failing, 10)).hasMessage("planted");
        assertThat(server.read(cursor, 0)).hasSize(1);
    }
}
