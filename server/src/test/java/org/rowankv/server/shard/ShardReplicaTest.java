package org.rowankv.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
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
import org.rowankv.topology.KeyHash;

/** A serving replica, and the log of one writer. */
final class ShardReplicaTest {
    private static final int OWNER = 1;
    private static final int CACHE = 3;
    private static final byte[] KEY = "k".getBytes(StandardCharsets.US_ASCII);
    private static final KeyHash HASH = new KeyHash(11);

    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            1 << 20);
    private final ShardReplica replica = new ShardReplica(0, 1, HASH, segments, 1);
    private final long position = replica.positionOf(HASH.hash(CACHE, KEY, 0, KEY.length));
    private final AppendLog log = new AppendLog(segments, SegmentOwner.WORKER);
    private final EntryDraft draft = new EntryDraft();
    private final long first = Version.next(Version.of(1, 0));
    private final long second = Version.next(first);
    private final long third = Version.next(second);
    private int length;

    @BeforeEach
    void serve() {
        replica.recovered(OWNER);
    }

    private EntryDraft draft(int type, long version) {
        return draft.begin(type, 0, CACHE).key(KEY, 0, KEY.length).version(version);
    }

    private long append(EntryDraft entry) {
        length = EntryDescriptor.aligned((int) entry.usedLength());
        assertThat(log.ensureRoom(length)).isTrue();
        return log.append(entry, 1);
    }

    private int apply(int type, long address) {
        return replica.apply(OWNER, position, address, type, length);
    }

    private long found() {
        return replica.index().find(position, CACHE, KEY, 0, KEY.length);
    }

    /** A backup accounts space for it each time it lands. */
    @Test
    void shouldGiveBackWhatARepeatedEntryTookForWhichNoSpaceWasDrawn() {
        assertThat(apply(EntryType.PUT, append(draft(EntryType.PUT, first).withoutSpace())))
                .isZero();
        assertThat(apply(EntryType.PUT, append(draft(EntryType.PUT, first).withoutSpace())))
                .isEqualTo(segments.charge(length));
    }

    /** Its sender acquired space for it once, however often it landed. */
    @Test
    void shouldGiveBackNothingForARepeatedEntryForWhichSpaceWasDrawn() {
        assertThat(apply(EntryType.PUT, append(draft(EntryType.PUT, first)))).isZero();
        assertThat(apply(EntryType.PUT, append(draft(EntryType.PUT, first)))).isZero();
    }

    private static void flip(Segments segments, long address, int bit) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address) + bit / Byte.SIZE;
        entry.put(at, (byte) (entry.get(at) ^ 1 << bit % Byte.SIZE));
    }

    /** A length with a flipped bit is unusable: it would divide by zero, or count bytes never written. */
    @ParameterizedTest
    @ValueSource(ints = {0, 32, 33, 41, 47, 48, 55, 63, 70, 100})
    void shouldReplaceAnEntryWithADamagedHeaderAndGiveNothingBack(int bit) {
        final long damaged = append(draft(EntryType.PUT, first));
        assertThat(apply(EntryType.PUT, damaged)).isZero();
        flip(segments, damaged, bit);

        final long newer = append(draft(EntryType.PUT, second));
        assertThat(apply(EntryType.PUT, newer)).isZero();

        assertThat(found()).isEqualTo(newer);
        final int segment = segments.segmentOf(damaged);
        assertThat(segments.deadBytes(segment)).isZero();
        assertThat(segments.damage().isSuspect(segment, segments.generation(segment)))
                .isTrue();
    }

    @Test
    void shouldCloseASessionWhoseOpeningIsDamaged() {
        final long opening = append(
                draft.begin(EntryType.SESSION_OPEN, 0, 0).request(77, 0, 0).version(first));
        assertThat(apply(EntryType.SESSION_OPEN, opening)).isZero();
        flip(segments, opening, 47);

        assertThat(replica.sessions(77).close(77, second, replica.superseded()::ofOpening))
                .isZero();

        assertThat(replica.sessions(77).isOpen(77)).isFalse();
        assertThat(segments.deadBytes(segments.segmentOf(opening))).isZero();
    }

    /** By then the deletion's address holds an object of the same key. */
    @Test
    void shouldForgetADeletionWithoutTheObjectThatLiesInItsPlace() {
        final long place = append(draft(EntryType.DELETE, first));
        final int segment = segments.segmentOf(place);
        final int unused = apply(EntryType.DELETE, place);
        log.retire();
        assertThat(apply(EntryType.PUT, append(draft(EntryType.PUT, second)))).isZero();
        log.retire();
        segments.free(segment);
        final long object = append(draft(EntryType.PUT, third));
        assertThat(object).isEqualTo(place);
        assertThat(apply(EntryType.PUT, object)).isPositive();

        replica.raiseCommitVersion(third);
        assertThat(replica.forgetDeletions(OWNER)).isEqualTo(1);

        assertThat(found()).isEqualTo(object);
    }
}
