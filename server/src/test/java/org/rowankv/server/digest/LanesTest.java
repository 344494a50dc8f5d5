package org.rowankv.server.digest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.LandingLane;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.CommitVector;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;

/** A backup log with several lanes, one for each sending server: what was landed before is in another lane. */
final class LanesTest {
    private final LandingServer server = new LandingServer();
    private final Segments segments = server.segments;
    private final Lanes queue = new Lanes();
    private final DigestAgent digest =
            new DigestAgent(queue, server.settings, segments, server.replicas, new ManualClock(), Long.MAX_VALUE);

    private static EntryDraft put(int epoch, long counter) {
        final byte[] key = ("key-" + epoch + '-' + counter).getBytes(StandardCharsets.US_ASCII);
        return new EntryDraft()
                .begin(EntryType.PUT, 0, 1)
                .key(key, 0, key.length)
                .version(Version.of(epoch, counter))
                .value(key, 0, key.length);
    }

    private static EntryDraft commit(int epoch, long counter) {
        final byte[] pairs = new byte[CommitVector.length(1)];
        CommitVector.set(pairs, 0, 0, Version.of(epoch, counter));
        return new EntryDraft().begin(EntryType.COMMIT_VECTOR, 0, 0).value(pairs, 0, pairs.length);
    }

    private long commitVersion() {
        return server.replica.commitVersion();
    }

    private long objects() {
        return server.replica.index().count();
    }

    private void digestAll() {
        for (int cycle = 0; cycle < 4; cycle++) {
            final int unused = digest.doWork();
        }
    }

    /** The entry is acknowledged, and this is its only place here. */
    @Test
    void shouldKeepWhatAFormerPrimaryLandedInALaneThatIsReadLater() {
        final Lane next = queue.add();
        final Lane former = queue.add();
        former.land(put(1, 1), 1);
        former.land(put(1, 2), 1);
        next.land(commit(2, 0), 0);
        digestAll();
        assertThat(objects()).isEqualTo(2);
        assertThat(commitVersion()).isEqualTo(Version.of(2, 0));
    }

    @Test
    void shouldHoldTheFirstCommitVerOfAnEpochUntilOtherLanesAreDigested() {
        final Lane next = queue.add();
        final Lane former = queue.add();
        former.reserve();
        next.land(commit(2, 0), 0);
        next.land(put(2, 1), 2);
        next.land(commit(2, 1), 0);
        digestAll();
        assertThat(commitVersion()).isZero();
        assertThat(objects()).as("of its own lane").isEqualTo(1);
        assertThat(digest.isIdle()).isFalse();

        former.publish(put(1, 9), 1);
        digestAll();
        assertThat(objects()).isEqualTo(2);
        assertThat(commitVersion()).isEqualTo(Version.of(2, 1));
        assertThat(digest.isIdle()).isTrue();

        // The lane has the epoch now: what lands elsewhere meanwhile is of the same or a later one.
        former.reserve();
        next.land(put(2, 2), 2);
        next.land(commit(2, 2), 0);
        digestAll();
        assertThat(commitVersion()).isEqualTo(Version.of(2, 2));
    }

    /** Two servers exchange their shards: neither lane may wait for the other. */
    @Test
    void shouldNotStopLanesWhoseRecordsFollowEachOther() {
        final Lane one = queue.add();
        final Lane two = queue.add();
        one.land(commit(2, 0), 0);
        one.land(put(3, 1), 3);
        two.land(commit(3, 0), 0);
        two.land(put(3, 2), 3);
        two.land(commit(3, 2), 0);
        digestAll();
        assertThat(objects()).isEqualTo(2);
        assertThat(commitVersion()).isEqualTo(Version.of(3, 2));
        assertThat(digest.isIdle()).isTrue();
    }

    @Test
    void shouldForgetWhatItHoldsWhenAnotherTenureBegins() {
        final Lane next = queue.add();
        final Lane former = queue.add();
        former.reserve();
        next.land(commit(2, 5), 0);
        digestAll();
        digest.tenureChanges(0);
        former.publish(put(1, 1), 1);
        digestAll();
        assertThat(commitVersion()).isZero();
    }

    @Test
    void shouldBeDigestedOnlyWhenEveryLaneIs() {
        final Lane first = queue.add();
        final Lane second = queue.add();
        second.reserve();
        first.land(put(1, 1), 1);
        final LandingPosition mark = digest.landed();
        digestAll();
        assertThat(digest.isDigested(mark)).isFalse();
        assertThat(digest.isDigested(mark, 0)).isFalse();
        second.publish(put(1, 2), 1);
        digestAll();
        assertThat(digest.isDigested(mark)).isTrue();
    }

    @Test
    void shouldReadALaneThatIsNewAndExpectNothingOfItAtAnEarlierMark() {
        final Lane first = queue.add();
        first.land(put(1, 1), 1);
        digestAll();
        final LandingPosition mark = digest.landed();
        final Lane late = queue.add();
        late.reserve();
        digestAll();
        assertThat(digest.isDigested(mark)).isTrue();
        late.publish(put(1, 2), 1);
        digestAll();
        assertThat(objects()).isEqualTo(2);
        late.reserve();
        assertThat(digest.isDigested(digest.landed())).isFalse();
    }

    /** Segments of several lanes are open at a time, and each is committed by what is in it. */
    @Test
    void shouldCommitTheSegmentsOfEachLaneByTheirOwnEntries() {
        final Lane first = queue.add();
        final Lane second = queue.add();
        first.land(put(1, 1), 1);
        second.land(put(1, 8), 1);
        digestAll();
        first.land(put(1, 2), 1);
        first.land(commit(1, 2), 0);
        first.close();
        second.close();
        digestAll();
        assertThat(segments.state(first.segment)).isEqualTo(SegmentState.COMMITTED);
        assertThat(segments.state(second.segment)).isEqualTo(SegmentState.USED);
        assertThat(digest.awaitsCommit()).isTrue();
    }

    /** Lanes that are logs of one segment. */
    private final class Lanes implements ReceiveQueue {
        private final List<Lane> lanes = new ArrayList<>();

        Lane add() {
            lanes.add(new Lane());
            return lanes.get(lanes.size() - 1);
        }

        @Override
        public int lanes() {
            return Math.max(1, lanes.size());
        }

        @Override
        public LandingLane lane(int number) {
            return number < lanes.size() ? lanes.get(number) : add();
        }

        @Override
        public boolean post(int segment, int generation) {
            throw new AssertionError();
        }

        @Override
        public long postedCount() {
            throw new AssertionError();
        }

        @Override
        public long currentOrdinal() {
            throw new AssertionError();
        }

        @Override
        public int segmentAt(long ordinal) {
            throw new AssertionError();
        }

        @Override
        public int generationAt(long ordinal) {
            throw new AssertionError();
        }

        @Override
        public boolean isClosed(long ordinal) {
            throw new AssertionError();
        }

        @Override
        public int landedLimit(long ordinal) {
            throw new AssertionError();
        }

        @Override
        public FenceReport fence(int serverId) {
            throw new AssertionError();
        }

        @Override
        public FenceReport fenceAll() {
            throw new AssertionError();
        }

        @Override
        public FenceReport fenceHole(int segment, int offset) {
            throw new AssertionError();
        }

        @Override
        public boolean isNamed(int segment) {
            throw new AssertionError();
        }
    }

    private final class Lane implements LandingLane {
        private final AppendLog log = new AppendLog(segments, SegmentOwner.BACKUP);
        private int segment = -1;
        private int limit;
        private boolean closed;

        void land(EntryDraft draft, int tag) {
            publish(draft, tag);
            limit += EntryDescriptor.aligned((int) draft.usedLength());
        }

        /** A place is taken, of an entry that is not published yet. */
        void reserve() {
            limit += EntryDescriptor.aligned((int) put(1, 1).usedLength());
        }

        void publish(EntryDraft draft, int tag) {
            assertThat(log.ensureRoom(EntryDescriptor.aligned((int) draft.usedLength())))
                    .isTrue();
            segment = segments.segmentOf(log.append(draft, tag));
        }

        void close() {
            closed = true;
        }

        @Override
        public long postedCount() {
            return segment < 0 ? 0 : 1;
        }

        @Override
        public long currentOrdinal() {
            return closed ? 1 : 0;
        }

        @Override
        public int segmentAt(long ordinal) {
            return segment;
        }

        @Override
        public int generationAt(long ordinal) {
            return segments.generation(segment);
        }

        @Override
        public boolean isClosed(long ordinal) {
            return closed;
        }

        @Override
        public int landedLimit(long ordinal) {
            return ordinal == 0 ? limit : 0;
        }
    }
}
