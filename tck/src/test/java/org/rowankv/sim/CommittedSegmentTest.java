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
import org.rowankv.placement.KeyHash;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.pm.Area;
import org.rowankv.server.pm.AreaSettings;
import org.rowankv.server.pm.Durability;
import org.rowankv.server.pm.OpenConsent;
import org.rowankv.server.pm.SegmentOwner;
import org.rowankv.server.pm.SegmentState;
import org.rowankv.server.pm.UnusableAreaException;
import org.rowankv.server.reconfiguration.RecoveredServer;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/** At the level power: what a start that finds a segment committed may believe of it. */
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

    private Segments written(SegmentOwner owner) {
        final Area area = Area.create(SETTINGS, memory.present(), new SplittableRandomSource(3));
        area.superblock().startIncarnation();
        final Segments segments = segments(area);
        final AppendLog log = new AppendLog(segments, owner);
        final EntryDraft draft = new EntryDraft();
        for (int i = 1; i <= ENTRIES; i++) {
            final byte[] key = ("k" + i).getBytes(StandardCharsets.US_ASCII);
            draft.begin(EntryType.PUT, 0, 3)
                    .key(key, 0, key.length)
                    .version(Version.of(1, i))
                    .value(new byte[300], 0, 300);
            assertThat(log.ensureRoom(EntryDescriptor.aligned((int) draft.usedLength())))
                    .isTrue();
            addresses.add(log.append(draft, 1));
        }
        log.close();
        assertThat(segments.state(segments.segmentOf(addresses.get(0)))).isEqualTo(SegmentState.COMMITTED);
        return segments;
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
            final Area area = Area.open(SETTINGS, memory.present(), OpenConsent.NONE);
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

    private void start() {
        final Area area = Area.open(SETTINGS, memory.present(), OpenConsent.NONE);
        final Segments found = segments(area);
        final ShardReplica replica = new ShardReplica(0, 1, new KeyHash(11), found, 1);
        new RecoveredServer(
                        0, found, new Replicas(new ShardReplica[] {replica}), true, new ErrorLog(SystemClock.INSTANCE))
                .scan(1, SystemClock.INSTANCE);
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
