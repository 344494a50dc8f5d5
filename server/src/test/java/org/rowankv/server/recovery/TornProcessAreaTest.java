package org.rowankv.server.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.BootId;
import org.rowankv.server.area.Machine;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/** At level process: the machine restarts before a close, and the user accepts the remaining content. */
final class TornProcessAreaTest {
    private static final int SEGMENT = AreaSettings.MIN_SEGMENT_LENGTH;
    private static final int ENTRIES = 4;

    @TempDir
    private Path directory;

    private final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
    private final List<Long> addresses = new ArrayList<>();

    private AreaSettings settings() {
        return new AreaSettings(directory.resolve("area"), 4 * SEGMENT, SEGMENT, 0, 5, 1, Durability.PROCESS);
    }

    private static Machine machine(int boot) {
        return new Machine(() -> new BootId(1, boot), (settings, memory) -> memory);
    }

    private static Segments segments(Area area) {
        return new Segments(area, new SplittableRandomSource(7), 0, 1 << 20);
    }

    private Area written() {
        final Area area = Area.create(settings(), new SplittableRandomSource(3), machine(1));
        area.superblock().startIncarnation();
        final Segments segments = segments(area);
        final AppendLog log = new AppendLog(segments, SegmentOwner.WORKER);
        final EntryDraft draft = new EntryDraft();
        for (int i = 0; i < ENTRIES; i++) {
            final byte[] key = ("k" + i).getBytes(StandardCharsets.US_ASCII);
            draft.begin(EntryType.PUT, 0, 3)
                    .key(key, 0, key.length)
                    .version(Version.of(1, i + 1))
                    .value(new byte[300], 0, 300);
            assertThat(log.ensureRoom(EntryDescriptor.aligned((int) draft.usedLength())))
                    .isTrue();
            addresses.add(log.append(draft, 1));
        }
        log.close();
        assertThat(segments.state(segments.segmentOf(addresses.get(0)))).isEqualTo(SegmentState.COMMITTED);
        return area;
    }

    private long entriesAfter(int boot, OpenOverrides consent) {
        try (Area area = Area.open(settings(), consent, machine(boot))) {
            area.superblock().startIncarnation();
            final Segments found = segments(area);
            final ShardReplica replica = new ShardReplica(0, 1, new KeyHash(11), found, 1);
            final RecoveredServer server =
                    new RecoveredServer(0, found, new Replicas(new ShardReplica[] {replica}), true, errors);
            server.scan(1, SystemClock.INSTANCE, null);
            server.finish();
            return server.entries();
        }
    }

    /**
     * Nothing is forced at this level: a committed segment is as torn as any. The word of an entry is lost, or an older
     * one.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 96})
    void shouldTakeWhatIsMissingInACommittedSegmentForTorn(int lost) {
        try (Area area = written()) {
            final long address = addresses.get(1) + lost;
            final ByteBuffer buffer = area.region().buffer(address);
            final int at = area.region().offset(address);
            buffer.putLong(at, ~buffer.getLong(at));
        }
        assertThat(entriesAfter(2, new OpenOverrides(true, false))).isEqualTo(ENTRIES - 1);
        assertThat(entriesAfter(2, OpenOverrides.NONE)).isEqualTo(ENTRIES - 1);
        assertThat(errors.distinct()).isEmpty();
    }
}
