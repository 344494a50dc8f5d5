package org.rowankv.server.cleaning;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
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
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/** A segment may release the tombstone horizon only if no tombstone is needed because of its entries. */
final class TombstoneHorizonScanTest {
    private static final int CACHE = 3;
    private static final int OWNER = 1;
    private static final int STEP = 4096;
    private static final KeyHash HASH = new KeyHash(11);

    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            1 << 20);
    private final ShardReplica replica = new ShardReplica(0, 1, HASH, segments, 1);
    private final AppendLog log = new AppendLog(segments, SegmentOwner.WORKER);
    private final EntryDraft draft = new EntryDraft();
    private final TombstoneHorizonScan look =
            new TombstoneHorizonScan(segments, new Replicas(new ShardReplica[] {replica}));
    private long version = Version.of(1, 0);

    private int write(int type, String key, int valueLength) {
        final byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        version = Version.next(version);
        draft.begin(type, 0, CACHE).key(bytes, 0, bytes.length).version(version);
        if (valueLength > 0) {
            draft.value(new byte[valueLength], 0, valueLength);
        }
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        assertThat(log.ensureRoom(length)).isTrue();
        final long address = log.append(draft, 1);
        final long position =
                EntryType.isKeyed(type) ? replica.positionOf(HASH.hash(CACHE, bytes, 0, bytes.length)) : 0;
        replica.apply(OWNER, position, address, type, length);
        return segments.segmentOf(address);
    }

    /** Opens another segment, so that a horizon can be raised to its number. */
    private void next() {
        log.retire();
        write(EntryType.PUT, "later", 40_000);
    }

    private void commit() {
        replica.raiseCommitVersion(version);
    }

    private boolean isRaised(int segment) {
        final long before = segments.horizon(segment);
        final long raised = look.raised();
        look.begin(segment);
        while (!look.step(STEP)) {
            // Not done.
        }
        look.finish();
        assertThat(look.segment()).isNegative();
        final boolean isRaised = segments.horizon(segment) > before;
        assertThat(look.raised() - raised).isEqualTo(isRaised ? 1 : 0);
        return isRaised;
    }

    @Test
    void shouldLetTheHorizonPassWhatWasReplaced() {
        final int old = write(EntryType.PUT, "k", 100);
        write(EntryType.PUT, "stays", 100);
        log.retire();
        write(EntryType.PUT, "k", 100);
        next();
        commit();
        assertThat(segments.tombstoneHorizon()).isEqualTo(segments.sequence(old));
        assertThat(isRaised(old)).isTrue();
        assertThat(segments.tombstoneHorizon()).isEqualTo(segments.lastSequence());
    }

    @Test
    void shouldHoldTheHorizonWhereAnObjectWasDeleted() {
        final int old = write(EntryType.PUT, "k", 100);
        log.retire();
        write(EntryType.DELETE, "k", 0);
        next();
        commit();
        assertThat(isRaised(old)).isFalse(); // the index still holds the deletion
        replica.recovered(OWNER);
        assertThat(replica.index().count()).isEqualTo(1);
        assertThat(isRaised(old)).isFalse(); // and has forgotten it
        assertThat(segments.tombstoneHorizon()).isEqualTo(segments.sequence(old));
    }

    @Test
    void shouldLetTheHorizonPassOnlyWhatWasWrittenBeforeTheLook() {
        final int old = write(EntryType.PUT, "k", 100);
        log.retire();
        write(EntryType.PUT, "k", 100);
        next();
        commit();
        look.begin(old);
        final long begun = segments.lastSequence();
        while (!look.step(STEP)) {
            // Not done.
        }
        // During or after the scan: the tombstone's stamp is then not smaller than the horizon.
        final int tombstone = write(EntryType.DELETE, "k", 0);
        next();
        next();
        look.finish();
        assertThat(segments.horizon(old)).isEqualTo(begun);
        assertThat(segments.effectiveStamp(tombstone, 0)).isGreaterThanOrEqualTo(segments.tombstoneHorizon());
        assertThat(isRaised(old)).isFalse();
    }

    @Test
    void shouldHoldTheHorizonWhereAnObjectWasCleared() {
        final int old = write(EntryType.PUT, "k", 100);
        write(EntryType.PUT, "other", 100);
        log.retire();
        write(EntryType.PUT, "other", 100);
        write(EntryType.CLEAR, "", 0);
        next();
        commit();
        assertThat(isRaised(old)).isFalse(); // not swept yet: the index points to it
    }

    @Test
    void shouldHoldTheHorizonUntilWhatReplacedTheObjectIsOnAllReplicas() {
        final int old = write(EntryType.PUT, "k", 100);
        log.retire();
        write(EntryType.PUT, "k", 100);
        final long newest = version;
        next();
        assertThat(isRaised(old)).isFalse();
        assertThat(look.isPromising(old)).isFalse();
        replica.raiseCommitVersion(newest - 1);
        assertThat(look.isPromising(old)).isFalse();
        replica.raiseCommitVersion(newest);
        assertThat(look.isPromising(old)).isTrue();
        assertThat(isRaised(old)).isTrue();
    }

    @Test
    void shouldHoldTheHorizonWhereAnEntryCannotBeFound() {
        final int old = write(EntryType.PUT, "k", 100);
        final int length = segments.charge(EntryDescriptor.STRIDE);
        log.retire();
        write(EntryType.PUT, "k", 100);
        next();
        commit();
        segments.close(old, segments.entryBytes(old) + length); // the bytes written
        assertThat(isRaised(old)).isFalse();
    }

    @Test
    void shouldNotReadASegmentAgainAndAgainInVain() {
        final int old = write(EntryType.PUT, "k", 100);
        log.retire();
        write(EntryType.DELETE, "k", 0);
        next();
        commit();
        assertThat(look.isPromising(old)).isTrue();
        assertThat(isRaised(old)).isFalse();
        assertThat(look.isPromising(old)).isFalse();
        for (int opened = 0; opened <= segments.count() / 4; opened++) {
            next();
        }
        assertThat(look.isPromising(old)).isTrue();
    }
}
