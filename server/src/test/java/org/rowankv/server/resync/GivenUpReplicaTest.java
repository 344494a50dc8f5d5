package org.rowankv.server.resync;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/** The end of a replica, also of one whose entries are damaged. */
final class GivenUpReplicaTest {
    private static final int OWNER = 1;
    private static final int CACHE = 3;
    private static final int OBJECTS = 100;
    private static final int CACHE_AT = 36;

    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            1 << 20);
    private final ShardReplica replica = new ShardReplica(0, 1, new KeyHash(11), segments, 1);
    private final AppendLog log = new AppendLog(segments, SegmentOwner.WORKER);
    private final EntryDraft draft = new EntryDraft();

    GivenUpReplicaTest() {
        replica.recovered(OWNER);
    }

    private long put(int number) {
        final byte[] key = Integer.toString(number).getBytes(StandardCharsets.US_ASCII);
        draft.begin(EntryType.PUT, 0, CACHE).key(key, 0, key.length).version(Version.of(1, number + 1));
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        assertThat(log.ensureRoom(length)).isTrue();
        final long address = log.append(draft, 1);
        final long position = replica.positionOf(new KeyHash(11).hash(CACHE, key, 0, key.length));
        assertThat(replica.apply(OWNER, position, address, EntryType.PUT, length))
                .isZero();
        return address;
    }

    private void giveUp() {
        final GivenUpReplica given = new GivenUpReplica(segments, replica);
        for (int i = 0; i < 100 && !given.isEmpty(); i++) {
            segments.space().release(given.free());
        }
        assertThat(given.isEmpty()).isTrue();
    }

    @Test
    void shouldFreeAllOfASoundReplica() {
        for (int i = 0; i < OBJECTS; i++) {
            put(i);
        }
        giveUp();
        assertThat(replica.index().count()).isZero();
        assertThat(replica.counts().objects(CACHE)).isZero();
    }

    /** One flipped bit of a cache id: a negative one, and one of which no counts can be held. */
    @ParameterizedTest
    @ValueSource(ints = {31, 29})
    void shouldLeaveADamagedEntryToTheScrubber(int bit) {
        long address = 0;
        for (int i = 0; i < OBJECTS; i++) {
            address = put(i);
        }
        final int at = segments.region().offset(address) + CACHE_AT + bit / Byte.SIZE;
        segments.region().buffer(address).put(at, (byte) (1 << bit % Byte.SIZE));

        giveUp();

        assertThat(replica.index().count()).isOne();
        assertThat(replica.counts().objects(CACHE)).isOne();
        final int segment = segments.segmentOf(address);
        assertThat(segments.damage().isSuspect(segment, segments.generation(segment)))
                .isTrue();
    }
}
