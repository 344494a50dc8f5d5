package org.rowankv.server.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Version;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.session.SessionTable;
import org.rowankv.server.shard.ShardReplica;

/**
 * An interrupted cleaner has left entries in two places. In whatever order the threads of a start read them, the copies
 * in the segment opened later are live: the rest of the interrupted segment fits after them.
 */
final class CopiesAtAStartTest {
    private static final long[] SESSIONS = {77, 78};

    private final LoggedServer server = new LoggedServer(0);
    private final long opened = Version.of(1, 1);
    private final long openedSecond = Version.next(opened);
    private final long replaced = Version.next(openedSecond);
    private final long newest = Version.next(replaced);
    private final long plain = Version.next(newest);

    private void writeAll() {
        server.write(EntryType.SESSION_OPEN, opened, "", SESSIONS[0], 0, 0);
        server.write(EntryType.SESSION_OPEN, openedSecond, "", SESSIONS[1], 0, 0);
        server.write(EntryType.PUT, replaced, "answered", SESSIONS[0], 1, 100);
        server.write(EntryType.PUT, newest, "answered", SESSIONS[1], 1, 200);
        server.put(plain, "plain", 300);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldLetTheCopyLiveThatLiesInTheSegmentOpenedLater(boolean oldestFirst) {
        writeAll();
        final int victim = server.openSegment();
        server.closeSegment();
        writeAll();
        final int copies = server.openSegment();
        server.closeSegment();
        assertThat(copies).isNotEqualTo(victim);

        final ShardReplica replica = server.read(oldestFirst);
        final Segments segments = server.segments();
        assertThat(segments.segmentOf(LoggedServer.addressOf(replica, "plain"))).isEqualTo(copies);
        assertThat(segments.segmentOf(LoggedServer.addressOf(replica, "answered")))
                .isEqualTo(copies);
        for (long session : SESSIONS) {
            final SessionTable table = replica.sessions(session);
            final SessionTable.AddressReader liesInCopies =
                    address -> assertThat(segments.segmentOf(address)).isEqualTo(copies);
            assertThat(table.readOpening(session, liesInCopies)).isTrue();
            assertThat(table.readCompletion(session, 0, liesInCopies)).isEqualTo(1);
        }
        assertThat(segments.deadBytes(victim)).isEqualTo(segments.entryBytes(victim));
        assertThat(segments.deadBytes(copies)).isZero();
        // An entry kept for its response alone dies with that; the other entry lives.
        for (long session : SESSIONS) {
            replica.sessions(session)
                    .complete(session, 2, 0, plain + 10, 0, 0, LoggedServer.addressOf(replica, "plain"));
        }
        assertThat(segments.deadBytes(copies)).isEqualTo(segments.charge(192));
        assertThat(replica.counts().objects(LoggedServer.CACHE)).isEqualTo(2);
    }

    /**
     * The digest and the cleaner run before its scan ends, and index and sessions must keep the same copy: the first
     * found.
     */
    @Test
    void shouldKeepTheFirstCopyMetAtAReplicaThatIsJoining() {
        writeAll();
        final int first = server.openSegment();
        server.closeSegment();
        final ShardReplica replica = server.start(true).replicas().get(0);
        final Segments segments = server.segments();
        final long later = segments.area().addressOf(segments.allocate(SegmentOwner.CLEAN, 0));
        final SessionTable table = replica.sessions(SESSIONS[0]);
        final long[] opened = new long[1];
        final SessionTable.AddressReader itsVersion = address -> opened[0] = EntryDescriptor.version(
                segments.region().buffer(address), segments.region().offset(address));
        assertThat(table.readOpening(SESSIONS[0], itsVersion)).isTrue();
        assertThat(table.open(SESSIONS[0], opened[0], later)).as("dead").isEqualTo(later);
        final SessionTable.AddressReader liesInFirst =
                address -> assertThat(segments.segmentOf(address)).isEqualTo(first);
        assertThat(table.readOpening(SESSIONS[0], liesInFirst)).isTrue();
        table.complete(SESSIONS[0], 1, 0, replaced, 0, 0, later);
        assertThat(table.readCompletion(SESSIONS[0], 0, liesInFirst)).isEqualTo(1);
    }

    /** Copies of copies, as after several interrupted starts. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldLetOneOfManyCopiesLive(boolean oldestFirst) {
        for (int n = 0; n < 4; n++) {
            writeAll();
            server.closeSegment();
        }
        server.read(oldestFirst);
        final Segments segments = server.segments();
        int withLive = 0;
        for (int segment = 0; segment < segments.count(); segment++) {
            if (segments.entryBytes(segment) > 0 && segments.deadBytes(segment) != segments.entryBytes(segment)) {
                assertThat(segments.deadBytes(segment)).isZero();
                assertThat(segments.sequence(segment)).isEqualTo(segments.lastSequence());
                withLive++;
            }
        }
        assertThat(withLive).isEqualTo(1);
    }
}
