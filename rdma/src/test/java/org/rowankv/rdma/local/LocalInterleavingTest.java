package org.rowankv.rdma.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.rowan.LandingCursor;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.ScheduleExplorer;

/**
 * Every schedule of a few senders, a fencer and a reader over the real ring. Segments hold four or eight
 * strides, so that the threads meet at the ends of segments too.
 */
final class LocalInterleavingTest {
    /** More preemptions than an ordinary build has the time for. */
    private static final int DEEPER = Integer.getInteger("rowan.explore.deeper", 0);

    private static final int TAG = 3;
    private static final int VICTIM = 2;
    private static final int OTHER = 3;

    private final MemoryRegion region = MemoryRegion.of(ByteBuffer.allocateDirect(TestServer.BASE + 8 * 512));

    /** Two servers send to a third, which fences one of them. */
    private final class Race implements ScheduleExplorer.Scenario {
        private final LocalFabric fabric;
        private final TestServer receiver;
        private final List<Runnable> threads = new ArrayList<>();
        private final Set<Long> posted = new HashSet<>();
        private final Set<Long> acked = new HashSet<>();
        private final Set<Long> refused = new HashSet<>();
        private final QueuePair victim;
        private final QueuePair other;
        private Set<Long> atFence;
        private boolean fenceIsOver;
        private boolean fencesHoles;
        private final List<Integer> reused = new ArrayList<>();
        private final List<Long> read = new ArrayList<>();
        /** A reader that reads while others land, and what it has read. */
        private final LandingCursor along;

        private final List<Long> readAlong = new ArrayList<>();

        Race(int segmentLength) {
            for (int at = 0; at < region.length(); at += Long.BYTES) {
                region.buffer(at).putLong(region.offset(at), 0);
            }
            fabric = new LocalFabric();
            receiver = TestServer.open(fabric, 1, 1, TestServer.CLUSTER, region, segmentLength, 8);
            for (int segment = 0; segment < 8; segment++) {
                receiver.post(segment);
            }
            along = receiver.cursor();
            victim = peer(VICTIM);
            other = peer(OTHER);
        }

        private QueuePair peer(int serverId) {
            return TestServer.open(fabric, serverId, 1, TestServer.CLUSTER, region, 512, 1)
                    .connectTo(receiver);
        }

        Race sends(QueuePair pair, long firstId, int... strides) {
            threads.add(() -> {
                for (int i = 0; i < strides.length; i++) {
                    send(pair, firstId + i, strides[i] * 64);
                }
            });
            return this;
        }

        private void send(QueuePair pair, long id, int length) {
            final boolean late = fenceIsOver;
            final int status = pair.send(id, new Entries().make(id, length), 0, length, TAG);
            if (pair == victim && late) {
                assertThat(status).isEqualTo(PostStatus.FENCED);
            }
            if (status == PostStatus.POSTED) {
                posted.add(id);
            }
            pair.poll(
                    (context, completed) -> {
                        assertThat(posted.remove(context)).isTrue();
                        if (pair == other && !fencesHoles) {
                            assertThat(completed).isNotEqualTo(CompletionStatus.FENCED);
                        }
                        (completed == CompletionStatus.LANDED ? acked : refused).add(context);
                    },
                    10);
        }

        Race fences() {
            threads.add(() -> {
                receiver.queue().fence(VICTIM);
                atFence = publishedByVictim();
                fenceIsOver = true;
            });
            return this;
        }

        /** Fences the owner of the first hole that it finds. */
        Race readsAndFencesHoles() {
            fencesHoles = true;
            threads.add(() -> {
                readAlong();
                if (along.isAtHole()) {
                    receiver.queue().fenceHole(receiver.queue().segmentAt(along.ordinal()), along.offset());
                    readAlong();
                }
            });
            return this;
        }

        private void readAlong() {
            receiver.read(along, TAG).forEach(landed -> readAlong.add(landed.id()));
        }

        /**
         * Frees closed, unnamed segments, and passes them to an owner that stores the bytes that were there
         * before the first use: what a late helper would expect to find.
         */
        Race freesAndReuses(int rounds) {
            threads.add(() -> {
                final LandingCursor cursor = receiver.cursor();
                int toFree = 0;
                for (int round = 0; round < rounds; round++) {
                    receiver.read(cursor, TAG).forEach(landed -> read.add(landed.id()));
                    while (toFree < cursor.ordinal()) {
                        Chaos.point("test.before-free");
                        if (receiver.queue().isNamed(receiver.queue().segmentAt(toFree))) {
                            break;
                        }
                        Chaos.point("test.freed");
                        fill(receiver.queue().segmentAt(toFree));
                        reused.add(receiver.queue().segmentAt(toFree));
                        toFree++;
                    }
                    Chaos.point("test.round");
                }
            });
            return this;
        }

        private void fill(int segment) {
            final long base = receiver.settings().segmentAddress(segment);
            for (int at = 0; at < receiver.settings().segmentLength(); at++) {
                region.buffer(base).put(region.offset(base) + at, (byte) 0);
            }
        }

        private void assertUntouched(int segment) {
            final long base = receiver.settings().segmentAddress(segment);
            for (int at = 0; at < receiver.settings().segmentLength(); at++) {
                assertThat(region.buffer(base).get(region.offset(base) + at))
                        .as("segment %s was free, byte %s", segment, at)
                        .isZero();
            }
        }

        /** The victim's entries that are published, also behind a hole. Its identities are below 100. */
        private Set<Long> publishedByVictim() {
            final Set<Long> found = new HashSet<>();
            for (long ordinal = 0; ordinal <= receiver.queue().currentOrdinal(); ordinal++) {
                final long base =
                        receiver.settings().segmentAddress(receiver.queue().segmentAt(ordinal));
                final ByteBuffer buffer = region.buffer(base);
                int at = region.offset(base);
                final int end = at + receiver.settings().segmentLength();
                while (at < end) {
                    final long word = FrameDescriptor.wordAcquire(buffer, at);
                    if (FrameDescriptor.generation(word) != receiver.queue().generationAt(ordinal)) {
                        break;
                    }
                    final long id = buffer.getLong(at + FrameDescriptor.HEADER_LENGTH);
                    if (FrameDescriptor.isEntryType(FrameDescriptor.type(word)) && id < 100) {
                        found.add(id);
                    }
                    at += FrameDescriptor.length(word);
                }
            }
            return found;
        }

        @Override
        public List<Runnable> threads() {
            return threads;
        }

        @Override
        public void check() {
            reused.forEach(this::assertUntouched);
            assertThat(acked).containsAll(read);
            if (reused.isEmpty()) {
                checkLog();
            }
        }

        private void checkLog() {
            final LandingCursor cursor = receiver.cursor();
            final List<Long> landed =
                    receiver.read(cursor, TAG).stream().map(Landed::id).toList();
            assertThat(cursor.isAtHole()).as("a hole is left").isFalse();
            assertThat(landed).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(acked);
            readAlong();
            assertThat(readAlong).as("read along with the landings").isEqualTo(landed);
            assertThat(Collections.disjoint(landed, refused)).isTrue();
            assertThat(posted).as("posted and never completed").isEmpty();
            assertThat(landed.stream().filter(id -> id < 100).toList()).isSorted();
            assertThat(landed.stream().filter(id -> id >= 100 && id < 200).toList())
                    .isSorted();
            if (atFence != null) {
                assertThat(publishedByVictim()).as("landed after the fence").isSubsetOf(atFence);
            }
            for (int segment = 0; segment < 8; segment++) {
                assertThat(receiver.queue().isNamed(segment)).isFalse();
            }
            final long tail = cursor.offset();
            assertThat(cursor.ordinal()).isEqualTo(receiver.queue().currentOrdinal());
            assertThat(tail).isEqualTo(receiver.queue().landedLimit(cursor.ordinal()));
        }
    }

    private static int explore(int preemptions, ScheduleExplorer.Maker maker) {
        try (ScheduleExplorer explorer = new ScheduleExplorer(preemptions + DEEPER)) {
            return explorer.explore(maker);
        }
    }

    private int oneAppendEachAndAFence(int preemptions) {
        return explore(preemptions, () -> {
            final Race race = new Race(512);
            return race.sends(race.victim, 1, 2).sends(race.other, 101, 3).fences();
        });
    }

    @Test
    void shouldHoldForOneAppendEachAndAFence() {
        assertThat(oneAppendEachAndAFence(2)).isGreaterThan(100);
    }

    @Test
    @Tag("long")
    void shouldHoldForOneAppendEachAndAFenceWithThreePreemptions() {
        assertThat(oneAppendEachAndAFence(3)).isGreaterThan(1000);
    }

    @Test
    void shouldHoldWhenEveryAppendMovesToTheNextSegment() {
        final int schedules = explore(2, () -> {
            final Race race = new Race(256);
            return race.sends(race.victim, 1, 3, 3).sends(race.other, 101, 3, 2).fences();
        });
        assertThat(schedules).isGreaterThan(1000);
    }

    @Test
    @Tag("long")
    void shouldHoldForThreeSendersAndAFence() {
        final int schedules = explore(1, () -> {
            final Race race = new Race(256);
            return race.sends(race.victim, 1, 2)
                    .sends(race.other, 101, 2)
                    .sends(race.peer(4), 201, 3)
                    .fences();
        });
        assertThat(schedules).isGreaterThan(500);
    }

    @Test
    void shouldHoldWhenAReaderCutsHolesOff() {
        final int schedules = explore(2, () -> {
            final Race race = new Race(256);
            return race.sends(race.victim, 1, 2).sends(race.other, 101, 4).readsAndFencesHoles();
        });
        assertThat(schedules).isGreaterThan(500);
    }

    @Test
    void shouldNotTouchASegmentThatIsUsedForSomethingElse() {
        final int schedules = explore(2, () -> {
            final Race race = new Race(128);
            return race.sends(race.victim, 1, 1).sends(race.other, 101, 1, 2, 2).freesAndReuses(2);
        });
        assertThat(schedules).isGreaterThan(500);
    }

    @Test
    void shouldNotTouchAReusedSegmentWhileItIsFenced() {
        final int schedules = explore(2, () -> {
            final Race race = new Race(128);
            return race.sends(race.other, 101, 1, 2, 2).fences().freesAndReuses(2);
        });
        assertThat(schedules).isGreaterThan(500);
    }
}
