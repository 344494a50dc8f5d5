package org.rowankv.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.area.UnusableAreaException;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.sim.device.SimMemory;
import org.rowankv.topology.KeyHash;

/** At the level power: what a start may conclude from a committed segment. */
class CommittedSegmentTest {
    private static final int SEGMENT = AreaSettings.MIN_SEGMENT_LENGTH;
    private static final AreaSettings SETTINGS =
            new AreaSettings(null, 4 * SEGMENT, SEGMENT, 0, 5, 1, Durability.POWER);
    private static final int ENTRIES = 20;
    private static final int CUTS = 60;

    private final SimMemory memory = new SimMemory(SETTINGS);
    private final List<Long> addresses = new ArrayList<>();

    private Segments segments(Area area) {
        return new Segments(area, new SplittableRandomSource(7), 0, 1 << 20);
    }

    /** A log of some entries in one committed segment. */
    private Segments written(SegmentOwner owner) {
        final Segments segments = appended(owner, true);
        assertThat(segments.state(segments.segmentOf(addresses.get(0)))).isEqualTo(SegmentState.COMMITTED);
        return segments;
    }

    private Segments appended(SegmentOwner owner, boolean closes) {
        final Area area = Area.create(SETTINGS, memory.present(), new SplittableRandomSource(3));
        area.superblock().startIncarnation();
        final Segments segments = segments(area);
        final AppendLog log = new AppendLog(segments, owner);
        for (int i = 1; i <= ENTRIES; i++) {
            addresses.add(append(log, i));
        }
        if (closes) {
            log.close();
        }
        return segments;
    }

    private static long append(AppendLog log, int number) {
        final byte[] key = ("k" + number).getBytes(StandardCharsets.US_ASCII);
        final EntryDraft draft = new EntryDraft();
        draft.begin(EntryType.PUT, 0, 3)
                .key(key, 0, key.length)
                .version(Version.of(1, number))
                .value(new byte[300], 0, 300);
        assertThat(log.ensureRoom(EntryDescriptor.aligned((int) draft.usedLength())))
                .isTrue();
        return log.append(draft, 1);
    }

    @ParameterizedTest
    @EnumSource(
            value = SegmentOwner.class,
            names = {"WORKER", "CLEAN"})
    void shouldFindNothingTornInASegmentThatAPowerCutLeftCommitted(SegmentOwner owner) {
        int committed = 0;
        for (int cut = 0; cut < CUTS; cut++) {
            memory.wipe();
            addresses.clear();
            written(owner);
            memory.cutPower(new SplittableRandomSource(cut), happened -> {});
            final Area area = Area.open(SETTINGS, memory.present(), OpenOverrides.NONE);
            final Segments found = segments(area);
            final int segment = found.segmentOf(addresses.get(0));
            if (found.state(segment) == SegmentState.COMMITTED) {
                committed++;
                assertThat(wholeIn(found, segment)).as("cut %s", cut).isEqualTo(ENTRIES);
            }
        }
        assertThat(committed).isPositive();
    }

    private static int wholeIn(Segments segments, int segment) {
        final int[] whole = new int[1];
        new SegmentScan(segments.region())
                .scan(
                        segments.area().addressOf(segment),
                        segments.length(),
                        segments.generation(segment),
                        new SegmentScan.Visitor() {
                            @Override
                            public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
                                whole[0]++;
                            }

                            @Override
                            public void onInvalid(long address, String reason) {
                                // Torn.
                            }
                        });
        return whole[0];
    }

    private RecoveredServer start() {
        final Area area = Area.open(SETTINGS, memory.present(), OpenOverrides.NONE);
        final Segments found = segments(area);
        final ShardReplica replica = new ShardReplica(0, 1, new KeyHash(11), found, 1);
        final RecoveredServer server = new RecoveredServer(
                0, found, new Replicas(new ShardReplica[] {replica}), true, new ErrorLog(SystemClock.INSTANCE));
        server.scan(1, SystemClock.INSTANCE, null);
        return server;
    }

    /**
     * A power cut drops words of unacknowledged entries, including publication words. The next start commits what is
     * left. No later start may take the dropped entries for damage.
     */
    @ParameterizedTest
    @EnumSource(
            value = SegmentOwner.class,
            names = {"WORKER", "BACKUP", "CLEAN"})
    void shouldNotTakeForDamageWhatWasTornBeforeAnEarlierStart(SegmentOwner owner) {
        for (int cut = 0; cut < CUTS; cut++) {
            memory.wipe();
            addresses.clear();
            appended(owner, false);
            memory.cutPower(new SplittableRandomSource(cut), happened -> {});
            final RecoveredServer first = start();
            first.finish();
            final long entries = first.entries();
            if (cut % 2 == 0) {
                memory.crash();
            } else {
                memory.cutPower(new SplittableRandomSource(CUTS + cut), happened -> {});
            }
            assertThat(start().entries()).as("cut %s", cut).isEqualTo(entries);
        }
    }

    /** A start that reclaims space continues a truncated log of copies, after the last word in it. */
    @Test
    void shouldNotTakeForDamageWhatWasTornBeforeALogWentOn() {
        for (int cut = 0; cut < CUTS; cut++) {
            memory.wipe();
            addresses.clear();
            appended(SegmentOwner.CLEAN, false);
            memory.cutPower(new SplittableRandomSource(cut), happened -> {});
            final RecoveredServer first = start();
            final Segments segments = first.segments();
            final int segment = segments.segmentOf(addresses.get(0));
            if (segments.state(segment) != SegmentState.USING) {
                continue; // none of it reached the device
            }
            final AppendLog log = new AppendLog(segments, SegmentOwner.CLEAN);
            log.resume(segment);
            append(log, ENTRIES + 1);
            log.close();
            assertThat(segments.state(segment)).isEqualTo(SegmentState.COMMITTED);
            memory.crash();
            assertThat(start().entries()).as("cut %s", cut).isEqualTo(first.entries() + 1);
        }
    }

    /** It was not closed, so it may be torn; but not there. */
    @Test
    void shouldNotTakeDamageInACommittedSegmentForTorn() {
        final Segments segments = written(SegmentOwner.WORKER);
        segments.area().drain();
        memory.crash();
        start();
        memory.crash();
        memory.flip(addresses.get(4) + EntryDescriptor.FRAME_LENGTH + 100, 4);
        assertThatThrownBy(this::start).isInstanceOf(UnusableAreaException.class);
    }
}
