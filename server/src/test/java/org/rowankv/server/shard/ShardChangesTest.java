package org.rowankv.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.protocol.Version;

/** A shard's changes are read once each, in order and as far as they are finished; or they are reported as lost. */
final class ShardChangesTest {
    private static final int CACHE = 7;
    private static final long ROOM = 1 << 20;

    private static Change change(long version, int length) {
        return new Change(
                version, ChangeType.CREATED, ("k" + version).getBytes(StandardCharsets.UTF_8), new byte[length], null);
    }

    /** A reader that polls and checks what it receives. */
    private static final class Reader {
        private ShardChanges changes;
        private final int cacheId;
        private final TreeSet<Long> heard = new TreeSet<>();
        private final TreeMap<Long, Long> lost = new TreeMap<>();
        private long position;

        Reader(ShardChanges changes, int cacheId, long position) {
            this.changes = changes;
            this.cacheId = cacheId;
            this.position = position;
        }

        void read(long finished, long room) {
            final ShardChanges.Reading reading = changes.read(cacheId, position, finished, room);
            long at = position;
            if (reading.lostTo() != 0) {
                assertThat(reading.lostTo()).isGreaterThan(position);
                lost.put(position, reading.lostTo());
                at = reading.lostTo();
            }
            for (Change change : reading.changes()) {
                assertThat(change.version()).isGreaterThan(at).isLessThanOrEqualTo(finished);
                at = change.version();
                heard.add(at);
            }
            assertThat(reading.to()).isGreaterThanOrEqualTo(at);
            position = reading.to();
        }

        boolean isLost(long version) {
            final var range = lost.lowerEntry(version);
            return range != null && version <= range.getValue();
        }
    }

    @Example
    void shouldHandOverTheNewestChangesAndTellOfTheOthers() {
        final ShardChanges changes = new ShardChanges(100, ROOM);
        final long position = changes.request(CACHE, true, () -> 10);
        for (long version = 11; version <= 20; version++) {
            changes.add(CACHE, change(version, 97));
        }
        final ShardChanges.Handed handed = changes.handOver(3 * 100 + 99);
        assertThat(handed.changes()).extracting(ShardChanges.Kept::version).containsExactly(18L, 19L, 20L);
        assertThat(changes.handOver(ROOM)).as("what is left").isNull();

        final ShardChanges next = new ShardChanges(100, ROOM);
        next.continueFrom(handed);
        assertThat(next.requested(CACHE)).isEqualTo(ShardChanges.REQUESTED_WITH_OLD_VALUE);
        assertThat(next.newest()).isEqualTo(20);
        final ShardChanges.Reading behind = next.read(CACHE, position, 20, ROOM);
        assertThat(behind.lostTo()).isEqualTo(17);
        assertThat(behind.changes()).hasSize(3);
        assertThat(next.read(CACHE, 17, 20, ROOM).lostTo()).isZero();
        assertThat(next.read(CACHE, 19, 20, ROOM).changes()).hasSize(1);
    }

    @Property(tries = 500)
    void shouldTellEachFinishedChangeOnceOrThatItIsLost(
            @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 6) int workers,
            @ForAll @IntRange(min = 1, max = 60) int maxChanges,
            @ForAll @IntRange(min = 1, max = 4_000) int maxBytes) {
        final Random random = new Random(seed);
        ShardChanges changes = new ShardChanges(maxChanges, maxBytes);
        final long[] last = {Version.of(3, 10)};
        final long[] inFlight = new long[workers];
        final boolean[] handedOver = new boolean[workers];
        final boolean[] seenRequested = new boolean[workers];
        final TreeSet<Long> committed = new TreeSet<>();
        Reader reader = null;
        long begun = 0;
        for (int step = 0; step < 400; step++) {
            final int worker = random.nextInt(workers);
            switch (random.nextInt(6)) {
                case 0 -> {
                    if (inFlight[worker] == 0) {
                        last[0] = Version.next(last[0]);
                        inFlight[worker] = last[0];
                        handedOver[worker] = false;
                    }
                }
                case 1 -> {
                    if (inFlight[worker] != 0) {
                        final boolean other = random.nextInt(4) == 0; // of a cache without subscribers, or with others
                        final int cacheId = other ? CACHE + 1 : CACHE;
                        seenRequested[worker] = changes.requested(cacheId) != ShardChanges.NOT_REQUESTED;
                        if (seenRequested[worker]) {
                            // Repeating it, as after an error in the middle, changes nothing.
                            for (int times = 1 + random.nextInt(2); times > 0; times--) {
                                changes.add(cacheId, change(inFlight[worker], random.nextInt(200)));
                            }
                        }
                        if (!other && !handedOver[worker]) {
                            committed.add(inFlight[worker]);
                        }
                        handedOver[worker] = true;
                        inFlight[worker] = 0;
                    }
                }
                case 2 -> {
                    if (random.nextInt(8) == 0 && inFlight[worker] != 0) {
                        changes.lost(CACHE, inFlight[worker]); // no memory for it
                        committed.add(inFlight[worker]);
                        inFlight[worker] = 0;
                    }
                }
                case 3 -> {
                    if (reader == null && random.nextInt(5) == 0) {
                        begun = changes.request(CACHE, random.nextBoolean(), () -> last[0]);
                        assertThat(begun).isEqualTo(last[0]);
                        reader = new Reader(changes, CACHE, begun);
                    } else if (random.nextInt(50) == 0) {
                        changes.request(CACHE + 1, false, () -> last[0]);
                    }
                }
                case 4 -> {
                    if (random.nextInt(30) == 0) {
                        final long finished = finished(last[0], inFlight);
                        for (int each = 0; each < workers; each++) {
                            if (inFlight[each] != 0 && random.nextBoolean()) {
                                committed.add(inFlight[each]); // a cold start found it, and no stream gets it
                            }
                            inFlight[each] = 0;
                        }
                        final ShardChanges next = changes.continued(last[0], finished);
                        assertThat(changes.requested(CACHE)).isEqualTo(ShardChanges.NOT_REQUESTED);
                        changes = next == null ? new ShardChanges(maxChanges, maxBytes) : next;
                        last[0] = Version.of(Version.epoch(last[0]) + 1, 0);
                        if (reader != null) {
                            reader.changes = changes;
                        }
                    }
                }
                default -> {
                    if (reader != null) {
                        reader.read(finished(last[0], inFlight), 1 + random.nextInt(1_000));
                    }
                }
            }
        }
        if (reader == null) {
            return;
        }
        java.util.Arrays.fill(inFlight, 0);
        for (int i = 0; i < 1_000 && reader.position < last[0]; i++) {
            reader.read(last[0], ROOM);
        }
        for (long version : committed.tailSet(begun, false)) {
            assertThat(reader.heard.contains(version) ^ reader.isLost(version))
                    .as("version %d", version)
                    .isTrue();
        }
        assertThat(committed).containsAll(reader.heard);
    }

    private static long finished(long last, long[] inFlight) {
        long smallest = last;
        for (long each : inFlight) {
            smallest = each == 0 ? smallest : Math.min(smallest, Version.before(each));
        }
        return smallest;
    }

    @Example
    void shouldGoOnInTheNextEpochWithoutALossIfNothingWasUnderWay() {
        final ShardChanges changes = new ShardChanges(100, 10_000);
        assertThat(changes.continued(Version.of(1, 0), Version.of(1, 0))).isNull();
        final Reader reader = new Reader(changes, CACHE, changes.request(CACHE, true, () -> Version.of(1, 0)));
        final Reader slow = new Reader(changes, CACHE, Version.of(1, 0));
        changes.add(CACHE, change(Version.of(1, 1), 10));
        reader.read(Version.of(1, 1), ROOM);
        final ShardChanges second = changes.continued(Version.of(1, 1), Version.of(1, 1));
        changes.add(CACHE, change(Version.of(1, 2), 10)); // no caller does this
        assertThat(second.requested(CACHE)).isEqualTo(ShardChanges.REQUESTED_WITH_OLD_VALUE);
        second.endLapsed(0);
        second.add(CACHE, change(Version.of(2, 1), 10));
        for (Reader each : List.of(reader, slow)) {
            each.changes = second;
            each.read(Version.of(2, 1), ROOM);
            assertThat(each.heard).containsExactly(Version.of(1, 1), Version.of(2, 1));
            assertThat(each.lost).isEmpty();
        }
        // One change was in flight with an unknown outcome.
        final ShardChanges third = second.continued(Version.of(2, 3), Version.of(2, 2));
        third.add(CACHE, change(Version.of(3, 1), 10));
        reader.changes = third;
        reader.read(Version.of(3, 1), ROOM);
        assertThat(reader.isLost(Version.of(2, 3))).isTrue();
        assertThat(reader.heard).contains(Version.of(3, 1));
    }

    @Example
    void shouldKeepAsMuchAsItMayAndOneInAnyCase() {
        final ShardChanges changes = new ShardChanges(100, 10_000);
        final long begun = changes.request(CACHE, false, () -> Version.of(1, 0));
        final Reader before = new Reader(changes, CACHE, begun);
        for (int i = 1; i <= 20; i++) {
            changes.add(CACHE, change(Version.of(1, i), 1_000));
        }
        before.read(Version.of(1, 20), ROOM);
        assertThat(before.heard).hasSize(9).contains(Version.of(1, 20));
        assertThat(before.isLost(Version.of(1, 11))).isTrue();
        assertThat(before.isLost(Version.of(1, 12))).isFalse();
        changes.add(CACHE, change(Version.of(1, 21), 50_000));
        before.read(Version.of(1, 21), 1);
        assertThat(before.heard).hasSize(10).contains(Version.of(1, 21));
    }

    @Example
    void shouldNotLoseWhatAnotherCacheDropped() {
        final ShardChanges changes = new ShardChanges(3, 10_000);
        changes.request(CACHE, false, () -> Version.of(1, 0));
        changes.request(CACHE + 1, false, () -> Version.of(1, 0));
        for (int i = 1; i <= 10; i++) {
            changes.add(CACHE + 1, change(Version.of(1, i), 10));
        }
        changes.add(CACHE, change(Version.of(1, 11), 10));
        final Reader quiet = new Reader(changes, CACHE, Version.of(1, 0));
        quiet.read(Version.of(1, 11), ROOM);
        assertThat(quiet.heard).containsExactly(Version.of(1, 11));
        assertThat(quiet.lost).isEmpty();
    }

    @Example
    void shouldStopKeepingWhatNobodyAsksForAnyMore() {
        final ShardChanges changes = new ShardChanges(10, 10_000);
        assertThat(changes.requested(CACHE)).isEqualTo(ShardChanges.NOT_REQUESTED);
        final long begun = changes.request(CACHE, false, () -> Version.of(1, 0));
        assertThat(changes.requested(CACHE)).isEqualTo(ShardChanges.REQUESTED);
        changes.request(CACHE, true, () -> Version.of(1, 0));
        assertThat(changes.requested(CACHE)).isEqualTo(ShardChanges.REQUESTED_WITH_OLD_VALUE);
        changes.endLapsed(0);
        changes.endLapsed(ShardChanges.LEASE_NS);
        assertThat(changes.requested(CACHE)).isEqualTo(ShardChanges.REQUESTED_WITH_OLD_VALUE);
        changes.add(CACHE, change(Version.of(1, 1), 10));
        changes.request(CACHE, false, () -> Version.of(1, 1)); // repeated
        changes.endLapsed(ShardChanges.LEASE_NS + 1);
        changes.endLapsed(2 * ShardChanges.LEASE_NS + 2);
        assertThat(changes.requested(CACHE)).isEqualTo(ShardChanges.NOT_REQUESTED);
        changes.add(CACHE, change(Version.of(1, 2), 10)); // of a write that checked before
        final Reader late = new Reader(changes, CACHE, begun);
        late.read(Version.of(1, 2), ROOM);
        assertThat(late.position).isEqualTo(begun); // a cache without a subscription reports nothing
        changes.request(CACHE, false, () -> Version.of(1, 2));
        late.read(Version.of(1, 2), ROOM);
        assertThat(late.isLost(Version.of(1, 2))).isTrue();
    }

    @Example
    void shouldRefuseMoreCachesThanItKeeps() {
        final ShardChanges changes = new ShardChanges(10, 10_000);
        for (int i = 0; i < ShardChanges.MAX_CACHES; i++) {
            assertThat(changes.request(i, false, () -> Version.of(1, 5))).isEqualTo(Version.of(1, 5));
        }
        assertThat(changes.request(-1, false, () -> Version.of(1, 5))).isEqualTo(Version.NONE);
        assertThat(changes.requested(-1)).isEqualTo(ShardChanges.NOT_REQUESTED);
    }

    /** Its next primary would take everything for kept. */
    @Example
    void shouldKeepNothingOfAShardThatHasLeft() {
        final ShardChanges changes = new ShardChanges(10, 10_000);
        assertThat(changes.request(CACHE, false, () -> Version.NONE)).isEqualTo(Version.NONE);
        assertThat(changes.requested(CACHE)).isEqualTo(ShardChanges.NOT_REQUESTED);
        assertThat(changes.handOver(ROOM)).isNull();
    }

    @Example
    void shouldTellWatchersUntilTheyGo() {
        final ShardChanges changes = new ShardChanges(10, 10_000);
        final List<Long> seen = new ArrayList<>();
        final AtomicInteger times = new AtomicInteger();
        final Runnable watcher = () -> {
            times.incrementAndGet();
            seen.add(changes.newest());
        };
        changes.watch(watcher);
        changes.watch(watcher);
        changes.request(CACHE, false, () -> Version.of(1, 0));
        changes.add(CACHE, change(Version.of(1, 2), 10));
        changes.add(CACHE, change(Version.of(1, 1), 10));
        changes.lost(CACHE, Version.of(1, 3));
        changes.unwatch(watcher);
        changes.add(CACHE, change(Version.of(1, 4), 10));
        assertThat(seen).containsExactly(Version.of(1, 2), Version.of(1, 2), Version.of(1, 3));
        assertThat(times).hasValue(3);
    }
}
