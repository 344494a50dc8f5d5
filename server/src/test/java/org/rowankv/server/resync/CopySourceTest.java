package org.rowankv.server.resync;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Version;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.recovery.LoggedServer;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.shard.ShardReplica;

/** The entries sent to a replica that is catching up, while writers continue. */
final class CopySourceTest {
    private static final int OWNER = 1;
    private static final int EPOCH = 2;
    private static final int OLD = 40;
    private static final int NEW = 400;

    private final LoggedServer server = new LoggedServer(0);
    private final ByteBuffer target = ByteBuffer.allocateDirect(4096).order(ByteOrder.LITTLE_ENDIAN);

    /** Whichever half of it follows the split, and however far the copy has advanced by then. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldCopyEachObjectOnceOfABucketThatIsSplitMeanwhile(int copiedBefore) {
        final List<Long> written = new ArrayList<>();
        for (int i = 0; i < OLD; i++) {
            written.add(Version.of(1, i + 1));
            server.put(Version.of(1, i + 1), "old" + i, 10);
        }
        final RecoveredServer started = server.start();
        final ShardReplica replica = started.replicas().get(0);
        final CopySource source =
                new CopySource(started.segments(), replica, EPOCH, question -> Inquiry.over(new BitSet()), target);
        final List<Long> copied = new ArrayList<>();
        for (int i = 0; i < copiedBefore; i++) {
            assertThat(source.next(0, target.capacity())).isPositive();
            copied.add(EntryDescriptor.version(target, 0));
        }

        grow(started.segments(), replica);

        while (source.next(0, target.capacity()) > 0) {
            copied.add(EntryDescriptor.version(target, 0));
        }
        assertThat(copied).containsExactlyInAnyOrderElementsOf(written);
    }

    /** However little room there is in between. */
    @Test
    void shouldCopyLaterWhatHasNoRoomNow() {
        final List<Long> written = new ArrayList<>();
        server.write(EntryType.SESSION_OPEN, Version.of(1, 1000), "", 77, 0, 0);
        server.write(EntryType.PUT, Version.of(1, 1001), "of a session", 77, 1, 10);
        written.add(Version.of(1, 1000));
        written.add(Version.of(1, 1001)); // as a completion
        written.add(Version.of(1, 1001)); // as an object
        for (int i = 0; i < OLD; i++) {
            written.add(Version.of(1, i + 1));
            server.put(Version.of(1, i + 1), "old" + i, 10 + 100 * (i % 5));
        }
        final RecoveredServer started = server.start();
        final CopySource source = new CopySource(
                started.segments(), started.replicas().get(0), EPOCH, question -> Inquiry.over(new BitSet()), target);
        final List<Long> copied = new ArrayList<>();
        int room = 0;
        for (int length = source.next(128, room); length != CopySource.END; length = source.next(128, room)) {
            if (length == CopySource.NO_ROOM) {
                room += EntryDescriptor.STRIDE;
            } else {
                assertThat(length).isLessThanOrEqualTo(room);
                copied.add(EntryDescriptor.version(target, 128));
                room = 0;
            }
        }
        assertThat(copied).containsExactlyInAnyOrderElementsOf(written);
    }

    /** Whichever field of it: its lengths address nothing, and the receiver would stop at its checksum. */
    @ParameterizedTest
    @ValueSource(ints = {0, 5, 7, 8, 23, 24, 31, 32, 33, 36, 40, 43, 44, 47, 60})
    void shouldLeaveOutWhatIsDamaged(int offset) {
        final RecoveredServer started = startWithOld();
        final Segments segments = started.segments();
        final ShardReplica replica = started.replicas().get(0);
        final long damaged = addressInTheMiddle(replica);
        final long lost = EntryDescriptor.version(
                segments.region().buffer(damaged), segments.region().offset(damaged));
        flip(segments, damaged, offset);

        final CopySize size = new CopySize(segments, replica, EPOCH, length -> {
            assertThat(length).isBetween(EntryDescriptor.FIXED_LENGTH, 4 * EntryDescriptor.STRIDE);
            return 1;
        });
        assertThat(size.advance(Integer.MAX_VALUE)).isTrue();
        assertThat(size.bytes()).isBetween(OLD - 1L, (long) OLD);
        final CopySource source =
                new CopySource(segments, replica, EPOCH, question -> Inquiry.over(new BitSet()), target);
        final List<Long> copied = new ArrayList<>();
        assertThat(copy(source, copied)).isEqualTo(CopySource.AWAITS_REPAIR);
        source.leaveOutDamaged();
        assertThat(copy(source, copied)).isEqualTo(CopySource.END);
        assertThat(copied).doesNotHaveDuplicates().hasSize(OLD - 1).doesNotContain(lost);
        final int segment = segments.segmentOf(damaged);
        assertThat(segments.damage().isSuspect(segment, segments.generation(segment)))
                .isTrue();
    }

    /** Another replica has the object: the new one would count as complete without it. */
    @Test
    void shouldAwaitTheRepairOfADamagedObject() {
        final RecoveredServer started = startWithOld();
        final ShardReplica replica = started.replicas().get(0);
        final long damaged = addressInTheMiddle(replica);
        flip(started.segments(), damaged, 31);
        final CopySource source =
                new CopySource(started.segments(), replica, EPOCH, question -> Inquiry.over(new BitSet()), target);
        final List<Long> copied = new ArrayList<>();

        assertThat(copy(source, copied)).isEqualTo(CopySource.AWAITS_REPAIR);
        assertThat(copy(source, copied)).isEqualTo(CopySource.AWAITS_REPAIR);
        flip(started.segments(), damaged, 31);

        assertThat(copy(source, copied)).isEqualTo(CopySource.END);
        assertThat(copied).doesNotHaveDuplicates().hasSize(OLD);
    }

    /** A flipped bit is enough, between versions in sequence. */
    @Test
    void shouldAwaitTheRepairOfAnObjectThatBearsTheVersionOfACopiedNeighbour() {
        final RecoveredServer started = startWithOld();
        final ShardReplica replica = started.replicas().get(0);
        final List<Long> bucket = new ArrayList<>();
        replica.index().lock(OWNER);
        final long unused = replica.index().visit(0, bucket::add);
        replica.index().unlock();
        assertThat(bucket).hasSizeGreaterThan(1);
        final CopySource source =
                new CopySource(started.segments(), replica, EPOCH, question -> Inquiry.over(new BitSet()), target);
        final List<Long> copied = new ArrayList<>();
        assertThat(source.next(0, target.capacity())).isPositive();
        copied.add(EntryDescriptor.version(target, 0));

        final ByteBuffer log = started.segments().region().buffer(bucket.get(1));
        final int damaged = started.segments().region().offset(bucket.get(1)) + EntryDescriptor.FRAME_LENGTH;
        final long version = log.getLong(damaged);
        log.putLong(damaged, copied.get(0));
        assertThat(copy(source, copied)).isEqualTo(CopySource.AWAITS_REPAIR);
        log.putLong(damaged, version);

        assertThat(copy(source, copied)).isEqualTo(CopySource.END);
        assertThat(copied).doesNotHaveDuplicates().hasSize(OLD);
    }

    @Test
    void shouldNotAwaitWhatNoReplicaHas() {
        final RecoveredServer started = startWithOld();
        final Segments segments = started.segments();
        final ShardReplica replica = started.replicas().get(0);
        final long damaged = addressInTheMiddle(replica);
        flip(segments, damaged, 60);
        segments.damage().lost(damaged, segments.generation(segments.segmentOf(damaged)));
        final List<Long> copied = new ArrayList<>();

        assertThat(copy(
                        new CopySource(segments, replica, EPOCH, question -> Inquiry.over(new BitSet()), target),
                        copied))
                .isEqualTo(CopySource.END);
        assertThat(copied).hasSize(OLD - 1);
    }

    /** Other agents share the thread of the one that copies. */
    @Test
    void shouldPassOverAFewBucketsAtATimeWhereTheReceiverHasAll() {
        final int many = 6_000;
        for (int i = 0; i < many; i++) {
            server.put(Version.of(1, i + 1), "old" + i, 10);
        }
        final RecoveredServer started = server.start();
        final CopySource source = new CopySource(
                started.segments(),
                started.replicas().get(0),
                EPOCH,
                question -> Inquiry.over(allOf(question)),
                target);
        int calls = 0;
        int next = source.next(0, target.capacity());
        while (next == CopySource.NOT_YET) {
            next = source.next(0, target.capacity());
            calls++;
        }
        assertThat(next).isEqualTo(CopySource.END);
        assertThat(source.presentThere()).isEqualTo(many);
        assertThat(calls).isPositive();
    }

    private static BitSet allOf(ByteBuffer question) {
        final BitSet all = new BitSet();
        all.set(0, question.remaining());
        return all;
    }

    private RecoveredServer startWithOld() {
        for (int i = 0; i < OLD; i++) {
            server.put(Version.of(1, i + 1), "old" + i, 10);
        }
        return server.start();
    }

    private static long addressInTheMiddle(ShardReplica replica) {
        final List<Long> addresses = new ArrayList<>();
        replica.index().lock(OWNER);
        for (long at = replica.index().visit(0, addresses::add); at != 0; ) {
            at = replica.index().visit(at, addresses::add);
        }
        replica.index().unlock();
        return addresses.get(OLD / 2);
    }

    private static void flip(Segments segments, long address, int offset) {
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address) + offset;
        buffer.put(at, (byte) (buffer.get(at) ^ 0x41));
    }

    /** Copies until there is no next one; returns why. */
    private int copy(CopySource source, List<Long> copied) {
        int length = source.next(0, target.capacity());
        while (length > 0) {
            copied.add(EntryDescriptor.version(target, 0));
            length = source.next(0, target.capacity());
        }
        return length;
    }

    private static void grow(Segments segments, ShardReplica replica) {
        final AppendLog log = new AppendLog(segments, SegmentOwner.WORKER);
        final EntryDraft draft = new EntryDraft();
        for (int i = 0; i < NEW; i++) {
            final byte[] key = ("new" + i).getBytes(StandardCharsets.US_ASCII);
            draft.begin(EntryType.PUT, 0, LoggedServer.CACHE)
                    .key(key, 0, key.length)
                    .version(Version.of(EPOCH, i + 1));
            final int length = EntryDescriptor.aligned((int) draft.usedLength());
            assertThat(log.ensureRoom(length)).isTrue();
            final long position = replica.positionOf(LoggedServer.HASH.hash(LoggedServer.CACHE, key, 0, key.length));
            assertThat(replica.apply(OWNER, position, log.append(draft, 1), EntryType.PUT, length))
                    .isZero();
        }
    }
}
