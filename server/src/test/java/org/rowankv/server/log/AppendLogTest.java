package org.rowankv.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.durability.Durability;

/** The charge and the age of a segment, by the entries that its log appends. */
final class AppendLogTest {
    private static final int LENGTH = 128;

    private final Area area = Area.create(
            new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1));
    private final Segments segments = newSegments();
    private final AppendLog log = new AppendLog(segments, SegmentOwner.CLEAN);

    private Segments newSegments() {
        return new Segments(area, new SplittableRandomSource(2), 0, 1 << 20);
    }

    private static int append(AppendLog to) {
        final EntryDraft draft = new EntryDraft().begin(EntryType.PUT, 0, 1).value(new byte[64], 0, 64);
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        assertThat(length).isEqualTo(LENGTH);
        assertThat(to.ensureRoom(length)).isTrue();
        final long unused = to.append(draft, 1);
        return to.openSegment();
    }

    @Test
    void shouldChargeWhatLiesInALogThatAStartGoesOnWith() {
        final int cutOff = append(log);
        append(log);
        final Segments found = newSegments();
        final int entry = found.charge(LENGTH);
        found.close(cutOff, 2 * entry); // read by the start

        final AppendLog resumed = new AppendLog(found, SegmentOwner.CLEAN);
        resumed.resume(cutOff);
        append(resumed);
        resumed.retire();

        assertThat(found.entryBytes(cutOff)).isEqualTo(3 * entry);
    }

    @Test
    void shouldCountAsOldAsTheOldestThatIsPutIntoAnOpenSegment() {
        append(log);
        log.retire();
        final int open = append(log);
        assertThat(segments.horizon(open)).isEqualTo(2);

        assertThat(log.ensureRoom(LENGTH, 1)).isTrue();

        assertThat(log.openSegment()).isEqualTo(open);
        assertThat(segments.horizon(open)).isEqualTo(1);
    }

    /** An entry that ends something needs room in a store full of live entries; the cleaner keeps one segment. */
    @Test
    void shouldEndThingsInOneOfTheSegmentsThatAreTheCleaners() {
        final Segments full = new Segments(area, new SplittableRandomSource(2), 2, 1 << 20);
        while (full.freeCount() > 2) {
            assertThat(full.allocate(SegmentOwner.CLEAN, 0)).isNotNegative();
        }
        final AppendLog callers = new AppendLog(full, SegmentOwner.WORKER);
        final AppendLog agents = new AppendLog(full, SegmentOwner.WORKER);
        agents.takesOfReserve();

        assertThat(callers.ensureRoom(LENGTH)).isFalse();
        assertThat(agents.ensureRoom(LENGTH)).isTrue();

        assertThat(full.freeCount()).isOne();
        final AppendLog others = new AppendLog(full, SegmentOwner.WORKER);
        others.takesOfReserve();
        assertThat(others.ensureRoom(LENGTH)).isFalse();
    }

    @Test
    void shouldNotKeepMoreFreeForTakingOfAReserveThatIsNot() {
        while (segments.freeCount() > 1) {
            assertThat(segments.allocate(SegmentOwner.CLEAN, 0)).isNotNegative();
        }
        log.takesOfReserve();

        assertThat(log.ensureRoom(LENGTH)).isTrue();
    }
}
