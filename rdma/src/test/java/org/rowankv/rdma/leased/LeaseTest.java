package org.rowankv.rdma.leased;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.ChannelHandlerContext;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.LandingLane;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.rdma.landing.OutboundHandshake;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.rdma.rowan.GenerationSource;
import org.rowankv.rdma.rowan.LandingCursor;

/** Leases, the progress word, and what is left of a sender that is fenced within its WRITEs. */
@Tag("jvm")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class LeaseTest {
    private static final int SEGMENT = 4096;
    private static final int TAG = 5;
    /** Longer than no entry, and as long as a progress word. */
    private static final int WORD = Long.BYTES;

    private final ModelLeases model = new ModelLeases(5);
    private Fabric fabric;
    private TestServer receiver;
    private TestServer sender;
    private final TreeMap<Long, Integer> statuses = new TreeMap<>();

    private void open(int segments, int segmentLength, boolean keepsReserve) {
        fabric = model.fabric(usual -> usual.keepsReserve = keepsReserve);
        receiver = TestServer.open(fabric, 1, segments, segmentLength);
        sender = TestServer.open(fabric, 2, 1, segmentLength);
        receiver.postAll();
    }

    @AfterEach
    void close() {
        model.network().holdOneSided(0);
        fabric.close();
    }

    private int post(QueuePair pair, long id, int length) {
        final int status = pair.send(id, new Entries().make(id, length), 0, length, TAG);
        pair.poll(statuses::put, 100);
        return status;
    }

    private void land(QueuePair pair, long id, int length) {
        while (post(pair, id, length) != PostStatus.POSTED) {
            Thread.onSpinWait();
        }
        await(pair, id);
    }

    private void await(QueuePair pair, long id) {
        while (!statuses.containsKey(id)) {
            pair.poll(statuses::put, 100);
            Thread.onSpinWait();
        }
    }

    private List<Long> landedIds() {
        return receiver.landed(TAG).stream().map(Landed::id).toList();
    }

    private boolean hasWordBehind(LandingLane lane, long ordinal, int offset) {
        final long address = receiver.settings().segmentAddress(lane.segmentAt(ordinal)) + offset;
        return GenerationSource.occurs(
                receiver.settings().region().buffer(address),
                receiver.settings().region().offset(address),
                SEGMENT - offset,
                lane.generationAt(ordinal));
    }

    @Test
    void shouldLeaseTwoSegmentsAndTheThirdInTheLastQuarter() {
        open(8, SEGMENT, false);
        final QueuePair pair = sender.connectTo(receiver);
        final LandingLane lane = receiver.queue().lane(0);
        assertThat(lane.postedCount()).isEqualTo(2);
        assertThat(receiver.queue().ahead()).isEqualTo(6);
        land(pair, 1, 2048);
        assertThat(lane.postedCount()).isEqualTo(2);
        land(pair, 2, 1024);
        while (lane.postedCount() < 3) {
            Thread.onSpinWait();
        }
        land(pair, 3, 1024);
        land(pair, 4, 2048);
        assertThat(lane.postedCount()).isEqualTo(3);
        assertThat(lane.currentOrdinal()).isEqualTo(1);
        assertThat(landedIds()).containsExactly(1L, 2L, 3L, 4L);
    }

    /** The sender gave it up before it opened the one that serves it, and the receiver hears of both in the other order. */
    @Test
    void shouldRefuseAConnectionEarlierThanTheOneInUse() throws Exception {
        open(8, SEGMENT, false);
        final QueuePair pair = sender.connectTo(receiver);
        land(pair, 1, 1024);
        final CompletableFuture<FabricException> refusal = new CompletableFuture<>();
        ((LeasedEndpoint) sender.endpoint()).landing().openLeases(1, 1, 1, 0, new OutboundHandshake.Outcome() {
            @Override
            public FrameReader welcomed(ChannelHandlerContext context, PeerWelcome welcome) {
                refusal.cancel(false);
                throw new IllegalStateException("accepted");
            }

            @Override
            public void failed(FabricException why) {
                refusal.complete(why);
            }
        });
        assertThat(refusal.get().reason()).isEqualTo(FabricException.Reason.NOT_ADMITTED);
        assertThat(refusal.get()).hasMessageContaining("a later connection for leases");
        land(pair, 2, 1024);
        assertThat(pair.isFenced()).isFalse();
        assertThat(landedIds()).containsExactly(1L, 2L);
    }

    /** It is the first of the next, and the rest of the lease stays empty. */
    @Test
    void shouldPlaceNoEntryAcrossTheEndOfALease() {
        open(8, SEGMENT, false);
        final QueuePair pair = sender.connectTo(receiver);
        land(pair, 1, 3008);
        land(pair, 2, 3008);
        final LandingLane lane = receiver.queue().lane(0);
        assertThat(lane.landedLimit(0)).isEqualTo(3008);
        assertThat(lane.currentOrdinal()).isEqualTo(1);
        assertThat(landedIds()).containsExactly(1L, 2L);
    }

    @Test
    void shouldNameASegmentAsLongAsItsSenderMayWriteIt() {
        open(8, SEGMENT, false);
        final QueuePair pair = sender.connectTo(receiver);
        assertThat(receiver.queue().isNamed(0)).isTrue();
        assertThat(receiver.queue().isNamed(1)).isTrue();
        assertThat(receiver.queue().isNamed(2)).isFalse();
        land(pair, 1, SEGMENT);
        land(pair, 2, 64);
        assertThat(receiver.queue().isNamed(0)).isFalse();
        assertThat(receiver.queue().isNamed(1)).isTrue();
        final FenceReport report = receiver.queue().fence(2);
        assertThat(report.namingPairs()).isZero();
        for (int segment = 0; segment < 8; segment++) {
            assertThat(receiver.queue().isNamed(segment)).isFalse();
        }
    }

    /** A reader that looks at any time finds whole entries, in order, up to the progress word. */
    @ParameterizedTest
    @ValueSource(ints = {64, 700, 3000})
    void shouldShowNoEntryBeforeAllOfItIsThere(int length) {
        open(32, SEGMENT, false);
        final QueuePair pair = sender.connectTo(receiver);
        final LandingCursor cursor =
                new LandingCursor(receiver.settings(), receiver.queue().lane(0));
        final List<Long> read = new ArrayList<>();
        long id = 0;
        while (read.size() < 24) {
            if (id < 24 && post(pair, id + 1, length) == PostStatus.POSTED) {
                id++;
            }
            pair.poll(statuses::put, 100);
            receiver.read(cursor, TAG).forEach(each -> read.add(each.id()));
            assertThat(cursor.isAtHole()).isFalse();
        }
        assertThat(read).isSorted().hasSize(24);
    }

    /** All of an entry is there, but not the progress word: it was not read, and must not be. */
    @Test
    void shouldWipeWhatIsBehindTheProgressWordAtAFence() {
        open(8, SEGMENT, false);
        final QueuePair pair = sender.connectTo(receiver);
        final LandingLane lane = receiver.queue().lane(0);
        land(pair, 1, 200);
        final int limit = lane.landedLimit(0);
        model.network().holdOneSided(WORD);
        final long before = model.network().writes();
        assertThat(post(pair, 2, 200)).isEqualTo(PostStatus.POSTED);
        pair.poll(statuses::put, 1);
        while (model.network().writes() == before || !hasWordBehind(lane, 0, limit)) {
            Thread.onSpinWait();
        }
        assertThat(landedIds()).containsExactly(1L);
        final FenceReport report = receiver.queue().fence(2);
        assertThat(report.voidedAddresses())
                .containsExactly(receiver.settings().segmentAddress(lane.segmentAt(0)) + limit);
        assertThat(hasWordBehind(lane, 0, limit)).isFalse();
        assertThat(landedIds()).containsExactly(1L);
        model.network().holdOneSided(0);
        await(pair, 2);
        assertThat(statuses).containsEntry(2L, CompletionStatus.FENCED);
        assertThat(hasWordBehind(lane, 0, limit)).isFalse();
        assertThat(lane.isClosed(0)).isTrue();
    }

    /** Until its queue pair is destroyed, a sender's card goes on; nothing of that is left. */
    @Test
    void shouldLeaveNothingOfWhatArrivesDuringAFence() {
        open(8, SEGMENT, false);
        final QueuePair pair = sender.connectTo(receiver);
        final LandingLane lane = receiver.queue().lane(0);
        land(pair, 1, 200);
        final int limit = lane.landedLimit(0);
        model.network().holdOneSided(SEGMENT);
        assertThat(post(pair, 2, 64)).isEqualTo(PostStatus.POSTED);
        assertThat(post(pair, 3, 64)).isEqualTo(PostStatus.POSTED);
        pair.poll(statuses::put, 1);
        // The entries leave during the fence, their progress word never.
        model.network().holdFromNextDestroy(WORD);
        receiver.queue().fence(2);
        model.network().holdOneSided(0);
        await(pair, 3);
        assertThat(statuses.get(2L)).isEqualTo(CompletionStatus.FENCED);
        assertThat(hasWordBehind(lane, 0, limit)).isFalse();
        assertThat(landedIds()).containsExactly(1L);
    }

    /** It lands without an acknowledgement, which is lost: the fenced sender learns that. */
    @Test
    void shouldTellAFencedSenderWhatHasLanded() {
        open(8, SEGMENT, false);
        final QueuePair pair = sender.connectTo(receiver);
        land(pair, 1, 64);
        model.network().holdOneSided(1); // the READ
        assertThat(post(pair, 2, 64)).isEqualTo(PostStatus.POSTED);
        pair.poll(statuses::put, 1);
        while (landedIds().size() < 2) {
            pair.poll(statuses::put, 1);
        }
        pair.poll(statuses::put, 1);
        assertThat(statuses).doesNotContainKey(2L);
        receiver.queue().fence(2);
        await(pair, 2);
        assertThat(statuses).containsEntry(2L, CompletionStatus.LANDED);
    }

    /** Only once its queue pair is gone, and to the same sender. */
    @Test
    void shouldLeaseWhatWasNotWrittenToTheNextConnectionOfTheSender() {
        open(8, SEGMENT, false);
        final QueuePair pair = sender.connectTo(receiver);
        final LandingLane lane = receiver.queue().lane(0);
        land(pair, 1, 64);
        receiver.queue().fence(2);
        while (!pair.isFenced()) {
            Thread.onSpinWait();
        }
        assertThat(lane.currentOrdinal()).isEqualTo(1);
        assertThat(lane.postedCount()).isEqualTo(2);
        final QueuePair again = sender.connectTo(receiver);
        land(again, 2, 64);
        assertThat(lane.landedLimit(1)).isEqualTo(64);
        assertThat(lane.postedCount()).isEqualTo(3);
        assertThat(landedIds()).containsExactly(1L, 2L);
    }

    /** A break anywhere is a fence: what has landed is acknowledged, the rest never lands. */
    @Test
    void shouldGoOnAfterItsQueuePairBreaks() {
        open(8, SEGMENT, false);
        final QueuePair pair = sender.connectTo(receiver);
        land(pair, 1, 64);
        model.network().breakAfter(0);
        // Its next step, of whichever connection, fails.
        int status = PostStatus.POSTED;
        long id = 1;
        while (status != PostStatus.FENCED) {
            status = post(pair, id + 1, 64);
            id += status == PostStatus.POSTED ? 1 : 0;
        }
        for (long each = 2; each <= id; each++) {
            await(pair, each);
        }
        pair.close();
        final List<Long> landed = landedIds();
        statuses.forEach((each, outcome) -> {
            if (outcome != CompletionStatus.UNKNOWN) {
                assertThat(landed.contains(each)).isEqualTo(outcome == CompletionStatus.LANDED);
            }
        });
        final QueuePair again = sender.connectTo(receiver);
        land(again, 1000, 64);
        assertThat(landedIds()).endsWith(1000L);
    }

    /** Places are taken and posted in one order, so that none of them is left empty. */
    @Test
    void shouldLeaveNoHoleAmongWorkers() throws InterruptedException {
        open(64, SEGMENT, false);
        final AtomicInteger failures = new AtomicInteger();
        final List<Thread> workers = new ArrayList<>();
        for (int worker = 0; worker < 4; worker++) {
            final long first = 1000L * (worker + 1);
            final QueuePair pair = sender.connectTo(receiver);
            workers.add(new Thread(() -> {
                final Entries entries = new Entries();
                final List<Long> done = new ArrayList<>();
                long next = first;
                while (done.size() < 100) {
                    final int length = 64 + (int) (next % 5) * 100;
                    if (next < first + 100
                            && pair.send(next, entries.make(next, length), 0, length, TAG) == PostStatus.POSTED) {
                        next++;
                    }
                    pair.poll(
                            (id, status) -> {
                                done.add(id);
                                failures.addAndGet(status);
                            },
                            10);
                }
            }));
        }
        workers.forEach(Thread::start);
        for (final Thread each : workers) {
            each.join();
        }
        assertThat(failures).hasValue(0);
        final List<Long> ids = landedIds();
        assertThat(ids).hasSize(400).doesNotHaveDuplicates();
        for (int worker = 1; worker <= 4; worker++) {
            final long of = worker;
            assertThat(ids.stream().filter(id -> id / 1000 == of)).isSorted();
        }
    }

    /** The card reads an entry when it sends it, which may be late. */
    @Test
    void shouldKeepStagedEntriesUntilTheirReadCompletes() {
        open(8, 1 << 20, false);
        final QueuePair pair = sender.connectTo(receiver);
        for (int round = 0; round < 3; round++) {
            model.network().holdOneSided(1 << 20);
            long id = 1000L * (round + 1);
            int full = 0;
            while (full < 100) {
                final int status = post(pair, id + 1, 12_000);
                id += status == PostStatus.POSTED ? 1 : 0;
                full += status == PostStatus.QUEUE_FULL ? 1 : 0;
            }
            model.network().holdOneSided(0);
            await(pair, id);
        }
        assertThat(statuses.values()).containsOnly(CompletionStatus.LANDED);
        assertThat(landedIds()).containsExactlyElementsOf(statuses.keySet());
        assertThat(statuses).hasSizeGreaterThan(40);
    }

    /** The last lease is for records that free segments. */
    @Test
    void shouldKeepTheLastLeaseForWhatUsesTheReserve() {
        open(2, SEGMENT, true);
        final QueuePair plain = sender.connectTo(receiver);
        final QueuePair using = sender.connectTo(receiver);
        using.useReserve();
        land(plain, 1, SEGMENT);
        for (int i = 0; i < 1000; i++) {
            assertThat(post(plain, 2, 64)).isEqualTo(PostStatus.RECEIVER_NOT_READY);
        }
        land(using, 3, 64);
        assertThat(post(plain, 2, 64)).isEqualTo(PostStatus.RECEIVER_NOT_READY);
        assertThat(landedIds()).containsExactly(1L, 3L);
    }

    @Test
    void shouldSayThatTheSegmentsCannotBeExposed() {
        open(8, SEGMENT, false);
        model.network().refuseMemory("Operation not supported");
        assertThatThrownBy(() -> TestServer.open(fabric, 9, 1, SEGMENT))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("Operation not supported");
        model.network().refuseMemory(null);
    }
}
