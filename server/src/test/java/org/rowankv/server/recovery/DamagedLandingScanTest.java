package org.rowankv.server.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.UnusableAreaException;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;

/** A start's classification of places in a log with an entry's word and no whole entry, where nothing is torn. */
final class DamagedLandingScanTest {
    private static final int ENTRIES = 4;

    private final long[] addresses = new long[ENTRIES];

    private LoggedServer written(SegmentOwner owner) {
        final LoggedServer server = new LoggedServer(1, owner);
        long version = Version.of(1, 0);
        for (int i = 0; i < ENTRIES; i++) {
            version = Version.next(version);
            addresses[i] = server.put(version, "k" + i, 200);
        }
        return server;
    }

    private static ByteBuffer buffer(LoggedServer server, long address) {
        return server.segments().region().buffer(address);
    }

    private static int offset(LoggedServer server, long address) {
        return server.segments().region().offset(address);
    }

    private static void flip(LoggedServer server, long address) {
        final int at = offset(server, address);
        buffer(server, address).put(at, (byte) (buffer(server, address).get(at) ^ 4));
    }

    private static int lengthAt(LoggedServer server, long address) {
        return FrameDescriptor.length(FrameDescriptor.wordPlain(buffer(server, address), offset(server, address)));
    }

    /** The first, one between others, or the last: the word is stored last, so all of it was there. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2, ENTRIES - 1})
    void shouldNotCountTheReplicaAsComplete(int damaged) {
        final LoggedServer server = written(SegmentOwner.BACKUP);
        flip(server, addresses[damaged] + EntryDescriptor.FRAME_LENGTH + 100);
        assertThatThrownBy(server::start)
                .isInstanceOf(UnusableAreaException.class)
                .hasMessageContaining("server 1 lacks an entry that was acknowledged");
        assertThat(server.area().superblock().isIncomplete()).isTrue();
        assertThat(server.errors().distinct()).hasSize(1);
    }

    /** The card had stored its first bytes, and those of no later one, when the process ended. */
    @Test
    void shouldTakeTheEndOfALogThatSendersWriteForCutOff() {
        final LoggedServer server = written(SegmentOwner.BACKUP);
        flip(server, addresses[ENTRIES - 1] + EntryDescriptor.FRAME_LENGTH + 100);
        final RecoveredServer started = server.startPlacedBySenders();
        assertThat(started.tornEntries()).isEqualTo(1);
        assertThat(LoggedServer.versionOf(started, "k" + (ENTRIES - 1))).isZero();
        assertThat(LoggedServer.versionOf(started, "k" + (ENTRIES - 2))).isPositive();
        assertThat(server.area().superblock().isIncomplete()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, ENTRIES - 2})
    void shouldTakeNothingElseOfALogThatSendersWriteForCutOff(int damaged) {
        final LoggedServer server = written(SegmentOwner.BACKUP);
        flip(server, addresses[damaged] + EntryDescriptor.FRAME_LENGTH + 100);
        assertThatThrownBy(server::startPlacedBySenders).isInstanceOf(UnusableAreaException.class);
    }

    private static void writeOff(LoggedServer server, long address) {
        new EntryCheck(server.segments().region()).writeOff(address);
    }

    /** The replica has its content elsewhere, or does not need it any more. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2, ENTRIES - 1})
    void shouldPassOverWhatTheScrubberHasWrittenOff(int damaged) {
        final LoggedServer server = written(SegmentOwner.BACKUP);
        flip(server, addresses[damaged] + EntryDescriptor.FRAME_LENGTH + 100);
        writeOff(server, addresses[damaged]);
        for (int start = 0; start < 2; start++) {
            final RecoveredServer started = server.start();
            assertThat(LoggedServer.versionOf(started, "k" + damaged)).isZero();
            assertThat(LoggedServer.versionOf(started, "k1")).isPositive();
            assertThat(server.area().superblock().isIncomplete()).isFalse();
            assertThat(server.errors().distinct()).isEmpty();
        }
    }

    /** Nothing between the two shows where the second begins. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCountFreshDamageBehindWhatIsWrittenOff(boolean lengthIsDamaged) {
        final LoggedServer server = written(SegmentOwner.BACKUP);
        flip(server, addresses[1] + (lengthIsDamaged ? Integer.BYTES : EntryDescriptor.FRAME_LENGTH + 100));
        writeOff(server, addresses[1]);
        flip(server, addresses[2] + EntryDescriptor.FRAME_LENGTH + 100);
        assertThatThrownBy(server::start).isInstanceOf(UnusableAreaException.class);
    }

    /** No single bit of a header may be taken for the mark. */
    @Test
    void shouldCountDamageOfEachBitOfAHeaderThatTheWordShows() {
        for (int bit = Long.SIZE; bit < 8 * FrameDescriptor.HEADER_LENGTH; bit++) {
            final LoggedServer server = written(SegmentOwner.BACKUP);
            final ByteBuffer buffer = buffer(server, addresses[1]);
            final int at = offset(server, addresses[1]) + bit / 8;
            buffer.put(at, (byte) (buffer.get(at) ^ 1 << bit % 8));
            assertThatThrownBy(server::start).as("bit %s", bit).isInstanceOf(UnusableAreaException.class);
        }
    }

    /** It holds nothing that was acknowledged; later entries may. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotMissARecordOfWhatIsCommitted(boolean alsoTheNext) {
        final LoggedServer server = written(SegmentOwner.BACKUP);
        final long record = server.commitVector(Version.of(1, 2));
        final long behind = server.put(Version.of(1, 100), "behind", 200);
        flip(server, record + EntryDescriptor.FRAME_LENGTH + 30);
        if (alsoTheNext) {
            flip(server, behind + EntryDescriptor.FRAME_LENGTH + 100);
            assertThatThrownBy(server::start).isInstanceOf(UnusableAreaException.class);
        } else {
            assertThat(LoggedServer.versionOf(server.start(), "behind")).isPositive();
            assertThat(server.area().superblock().isIncomplete()).isFalse();
            assertThat(server.errors().distinct()).hasSize(1);
        }
    }

    /**
     * A replica is complete by everything written in its area: a primary's log, and copies, count like landed entries.
     */
    @ParameterizedTest
    @CsvSource({"WORKER, 0", "WORKER, 2", "WORKER, 3", "CLEAN, 0", "CLEAN, 3"})
    void shouldCountDamageInOtherLogsAsWell(SegmentOwner owner, int damaged) {
        final LoggedServer server = written(owner);
        flip(server, addresses[damaged] + EntryDescriptor.FRAME_LENGTH + 100);
        assertThatThrownBy(server::start).isInstanceOf(UnusableAreaException.class);
        assertThat(server.area().superblock().isIncomplete()).isTrue();
    }

    /** Such a word implies no entry. But no log has gaps. */
    @ParameterizedTest
    @CsvSource({"BACKUP, 0, 0", "BACKUP, 2, 3", "WORKER, 1, 6", "CLEAN, 2, 1"})
    void shouldFindAnEntryWhoseWordIsDamaged(SegmentOwner owner, int damaged, int byteOfWord) {
        final LoggedServer server = written(owner);
        flip(server, addresses[damaged] + byteOfWord);
        assertThatThrownBy(server::start).isInstanceOf(UnusableAreaException.class);
        assertThat(server.area().superblock().isIncomplete()).isTrue();
    }

    /** No following entry reveals the gap. */
    @Test
    void shouldFindTheLastEntryOfALogWhicheverBitOfItsWordIsDamaged() {
        for (int bit = 0; bit < Long.SIZE; bit++) {
            final LoggedServer server = written(SegmentOwner.BACKUP);
            final ByteBuffer buffer = buffer(server, addresses[ENTRIES - 1]);
            final int at = offset(server, addresses[ENTRIES - 1]) + bit / 8;
            buffer.put(at, (byte) (buffer.get(at) ^ 1 << bit % 8));
            assertThatThrownBy(server::start).as("bit %s", bit).isInstanceOf(UnusableAreaException.class);
            assertThat(server.errors().distinct()).as("bit %s", bit).hasSize(1);
        }
    }

    @Test
    void shouldFindDamageBehindAPlaceThatWasGivenUp() {
        final LoggedServer server = written(SegmentOwner.BACKUP);
        FrameDescriptor.giveUp(buffer(server, addresses[1]), offset(server, addresses[1]));
        assertThat(LoggedServer.versionOf(server.start(), "k2")).isPositive();
        flip(server, addresses[2] + EntryDescriptor.FRAME_LENGTH + 100);
        assertThatThrownBy(server::start).isInstanceOf(UnusableAreaException.class);
    }

    /** A sender was killed while it copied a value that holds log entries, some of this very segment. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotTakeTheBodyOfWhatWasNeverFinishedForLandedEntries(boolean isVoid) {
        final LoggedServer server = written(SegmentOwner.BACKUP);
        final long last = addresses[ENTRIES - 1];
        final long place = last + lengthAt(server, last);
        final ByteBuffer buffer = buffer(server, place);
        final int at = offset(server, place);
        final int generation = server.segments().generation(server.segments().segmentOf(place));
        final int length = lengthAt(server, addresses[0]);
        final int strides = FrameDescriptor.stridesOf(length + FrameDescriptor.STRIDE);
        assertThat(FrameDescriptor.reserve(buffer, at, place, generation, strides))
                .isTrue();
        buffer.put(at + FrameDescriptor.STRIDE, buffer(server, addresses[0]), offset(server, addresses[0]), length);
        if (isVoid) {
            assertThat(FrameDescriptor.makeVoid(buffer, at, generation)).isTrue();
        }
        final RecoveredServer started = server.start();
        assertThat(LoggedServer.versionOf(started, "k3")).isPositive();
        assertThat(server.area().superblock().isIncomplete()).isFalse();
    }
}
