package org.rowankv.server.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.cleaning.CleanAgent;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/** While a start cleans, each place in the log counts as alive or dead by its present entry alone. */
@Tag("chaos")
final class RetainedCandidatesTest {
    private static final int VERSIONS = 64;
    private static final int VALUE = 100;

    private final LoggedServer server = new LoggedServer(0);
    private long version = Version.of(1, 0);

    @AfterEach
    void leave() {
        Chaos.reset();
    }

    /** Writes one object so often; all but the last are dead, and another replica may lack each. */
    private int writeVersions(int count) {
        int segment = -1;
        for (int i = 0; i < count; i++) {
            version = Version.next(version);
            server.put(version, "key", VALUE);
            segment = server.openSegment();
        }
        server.closeSegment();
        return segment;
    }

    /** A record of CommitVer may imply that between the assembly of two entries. */
    @Test
    void shouldChargeNoOtherUseOfASegmentForCandidatesThatAreNoneAnyMore() {
        final int segment = writeVersions(VERSIONS);
        final ShardReplica replica = server.read(true);
        final Segments segments = server.segments();
        final int each = segments.entryBytes(segment) / VERSIONS;
        final RetainedCandidates kept = new RetainedCandidates(segments, List.of(server.reader()));
        assertThat(segments.deadBytes(segment)).isEqualTo((VERSIONS - 1) * each);
        kept.hold();
        assertThat(segments.deadBytes(segment)).as("they count as alive").isZero();

        replica.raiseCommitVersion(version);
        final Candidates candidates = server.reader().candidates();
        candidates.add(0, Version.next(version), segments.area().addressOf(segment));
        assertThat(candidates.addressOf(0, version)).as("on all replicas").isZero();
        assertThat(segments.deadBytes(segment)).isEqualTo((VERSIONS - 1) * each);

        candidates.clear();
        segments.free(segment);
        assertThat(segments.allocate(SegmentOwner.CLEAN, 0)).isEqualTo(segment);
        kept.end();
        assertThat(segments.deadBytes(segment)).as("of what lies there now").isZero();
    }

    /** The victim stays, as while a reader pins it: no copied entry is alive there. */
    @Test
    void shouldCountTheOldPlaceOfACopiedCandidateDead() {
        version = Version.next(version);
        server.write(EntryType.SESSION_OPEN, version, "", 77, 0, 0);
        version = Version.next(version);
        server.write(EntryType.PUT, version, "key", 77, 1, VALUE); // replaced, and its response may be requested
        final int segment = writeVersions(VERSIONS);
        final ShardReplica replica = server.read(true);
        final Segments segments = server.segments();
        final RetainedCandidates kept = new RetainedCandidates(segments, List.of(server.reader()));
        final CleanAgent cleaner =
                CleanAgent.ofAStart(segments, new Replicas(new ShardReplica[] {replica}), unused -> false, kept);
        kept.hold();
        assertThat(segments.deadBytes(segment)).isZero();
        Chaos.install(point -> {
            if (point.equals("clean.before-drain")) {
                segments.pins().pinAll(0);
                segments.pins().hold();
            }
        });
        assertThat(cleaner.cleanOne()).isTrue();
        assertThat(cleaner.cleanedSegments()).as("the victim stays").isZero();
        assertThat(segments.state(segment)).isEqualTo(SegmentState.COMMITTED);
        assertThat(segments.deadBytes(segment)).isEqualTo(segments.entryBytes(segment));
    }

    /** The caller's thread reads one segment, the other one all the rest; each must keep what either has found. */
    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void shouldKeepTheSegmentOfACandidateThatAnotherThreadHasFound() {
        final long first = Version.next(version);
        final List<Integer> written = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            written.add(writeVersions(1));
        }
        final Thread caller = Thread.currentThread();
        final AtomicInteger read = new AtomicInteger();
        Chaos.install(point -> {
            if (point.equals("start.segment-read")) {
                read.incrementAndGet();
                while (Thread.currentThread() == caller && read.get() < written.size()) {
                    Thread.onSpinWait();
                }
            }
        });

        final RecoveredServer started = server.start(false, 2);

        assertThat(started.segments().liveBytes(written.get(0), 0)).isZero();
        for (long each = first; each <= version; each = Version.next(each)) {
            assertThat(started.candidate(0, each)).isPositive();
        }
        assertThat(written).allMatch(segment -> started.segments().state(segment) != SegmentState.FREE);
    }
}
