package org.rowankv.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.pm.Area;
import org.rowankv.server.pm.AreaSettings;
import org.rowankv.server.pm.Durability;
import org.rowankv.server.pm.SegmentOwner;
import org.rowankv.server.pm.SegmentState;

/** Whatever an earlier use has left in a segment is nothing in its present one. */
final class SegmentGenerationsTest {
    private static final int STARTS = 4;

    private final Area area = Area.create(
            new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1));

    /** A start of the server that owns the area, each with the same seed. */
    private Segments start() {
        return new Segments(area, new SplittableRandomSource(2), 0, 1 << 20);
    }

    private static void free(Segments segments, int segment) {
        if (segments.state(segment) == SegmentState.USING) {
            segments.transition(segment, SegmentState.USING, SegmentState.COMMITTED);
        }
        segments.free(segment);
    }

    private static void write(AppendLog log, long version) {
        final EntryDraft draft = new EntryDraft();
        draft.begin(EntryType.DELETE, 0, 3).key(new byte[] {'k'}, 0, 1).version(version);
        assertThat(log.ensureRoom(EntryDescriptor.aligned((int) draft.usedLength())))
                .isTrue();
        log.append(draft, 1);
    }

    private static List<Long> found(Segments segments, int segment) {
        final List<Long> versions = new ArrayList<>();
        new SegmentScan(segments.region())
                .scan(
                        segments.area().addressOf(segment),
                        segments.length(),
                        segments.generation(segment),
                        new SegmentScan.Visitor() {
                            @Override
                            public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
                                versions.add(EntryDescriptor.version(buffer, at));
                            }

                            @Override
                            public void onInvalid(long address, String reason) {
                                throw new AssertionError(reason);
                            }
                        });
        return versions;
    }

    /**
     * In each start a segment is posted for nothing first, which leaves what lies in it, and becomes a log then. With the
     * same numbers drawn in each start, the log of one had the generation of the log before the last use.
     */
    @Test
    void shouldFindNothingOfAnEarlierLogBehindTheEndOfALogAlsoWhenASeedComesTwice() {
        long version = Version.of(1, 0);
        for (int run = 1; run <= STARTS; run++) {
            final Segments segments = start();
            final int posted = segments.allocate(SegmentOwner.BACKUP, 0);
            free(segments, posted);
            final AppendLog log = new AppendLog(segments, SegmentOwner.CLEAN);
            final List<Long> written = new ArrayList<>();
            // Fewer in each start: behind the end lie those of the one before.
            for (int i = run; i <= STARTS; i++) {
                version = Version.next(version);
                write(log, version);
                written.add(version);
            }
            assertThat(log.openSegment()).isEqualTo(posted);
            assertThat(found(segments, posted)).as("start %d", run).isEqualTo(written);
            log.retire();
            free(segments, posted);
        }
    }
}
