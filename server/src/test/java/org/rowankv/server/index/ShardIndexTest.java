package org.rowankv.server.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;

/** The index against a map, while it grows, and the results of readers without the lock. */
@Tag("jvm")
@net.jqwik.api.Tag("jvm")
final class ShardIndexTest {
    private static final int OWNER = 1;
    private static final int VERSIONS = 3;

    /** Positions: all different, spread over the shard or crowded into a few buckets or one. */
    private static long[] positions(RandomSource random, int count, int crowding) {
        final Set<Long> chosen = new HashSet<>();
        while (chosen.size() < count) {
            final long position = random.nextLong();
            chosen.add(
                    switch (crowding) {
                        case 0 -> position;
                        // A sixteenth of the shard; the same tag in groups of keys.
                        case 1 -> position >>> 4;
                        default -> position & 0xffff_00ff_ffff_ffffL & ~(0x3fL << 48);
                    });
        }
        return chosen.stream().mapToLong(Long::longValue).toArray();
    }

    @Property(tries = 150)
    void shouldAgreeWithAMap(@ForAll long seed, @ForAll @IntRange(max = 2) int crowding) {
        final RandomSource random = new SplittableRandomSource(seed);
        final IndexedLog log = new IndexedLog(positions(random, 1 + random.nextInt(600), crowding), VERSIONS);
        final ShardIndex index = new ShardIndex(log.region());
        final Map<Integer, Long> model = new HashMap<>();
        index.lock(OWNER);
        for (int step = 0; step < 2_500; step++) {
            final int key = random.nextInt(log.keys());
            final long address = log.address(key, random.nextInt(VERSIONS));
            final long known = model.getOrDefault(key, 0L);
            switch (random.nextInt(5)) {
                case 0, 1 -> {
                    assertThat(index.put(log.position(key), address)).isEqualTo(known);
                    model.put(key, address);
                }
                case 2 -> {
                    final boolean removed = index.remove(log.position(key), address);
                    assertThat(removed).isEqualTo(model.remove(key, address));
                }
                case 3 -> {
                    final long to = log.address(key, random.nextInt(VERSIONS));
                    assertThat(index.relocate(log.position(key), address, to)).isEqualTo(known == address);
                    model.replace(key, address, to);
                }
                default -> {
                    assertThat(log.find(index, key)).isEqualTo(known);
                    assertThat(log.findByEntry(index, key, 0)).isEqualTo(known);
                    assertThat(index.refers(log.position(key), address)).isEqualTo(known == address);
                }
            }
            assertThat(index.count()).isEqualTo(model.size());
        }
        for (int key = 0; key < log.keys(); key++) {
            assertThat(log.find(index, key)).isEqualTo(model.getOrDefault(key, 0L));
        }
        index.unlock();
    }

    /**
     * Whatever expires is in a bucket with such a bound, and no bound is smaller than the earliest, even if a walk that
     * raised bounds met growth. A walk over every bucket leaves the earliest at the first object's expiry.
     */
    @Property(tries = 150)
    void shouldBoundWhatExpires(@ForAll long seed, @ForAll @IntRange(max = 2) int crowding) {
        final RandomSource random = new SplittableRandomSource(seed);
        final IndexedLog log = new IndexedLog(positions(random, 1 + random.nextInt(600), crowding), VERSIONS);
        final ShardIndex index = new ShardIndex(log.region());
        final Map<Integer, Long> model = new HashMap<>();
        index.lock(OWNER);
        boolean walking = false;
        long position = 0;
        for (int step = 0; step < 2_500; step++) {
            final int key = random.nextInt(log.keys());
            final long address = log.address(key, random.nextInt(VERSIONS));
            switch (random.nextInt(7)) {
                case 0, 1, 2 -> {
                    index.put(log.position(key), address);
                    model.put(key, address);
                }
                case 3 -> {
                    if (model.remove(key, address)) {
                        index.remove(log.position(key), address);
                    }
                }
                case 4 -> {
                    // Another replica's entry of the key repairs a damaged one.
                    if (model.computeIfPresent(key, (unused, from) -> relocated(log, index, key, from, address))
                            != null) {
                        assertThat(log.find(index, key)).isEqualTo(address);
                    }
                }
                default -> {
                    if (!walking) {
                        index.expiry().beginWalk();
                        walking = true;
                    }
                    if (random.nextInt(2) == 0) {
                        index.expiry().bound(position, boundOfBucket(log, index, position));
                    }
                    position = index.expiry().pass(position);
                    walking = position != 0;
                }
            }
            requireBound(log, index, model, key, walking);
        }
        for (int key = 0; key < log.keys(); key++) {
            requireBound(log, index, model, key, walking);
        }
        long earliest = ExpiryBound.NEVER;
        for (long address : model.values()) {
            earliest = Math.min(earliest, ExpiryBound.of(log.expiryMsAt(address)));
        }
        index.expiry().beginWalk();
        position = 0;
        do {
            index.expiry().bound(position, boundOfBucket(log, index, position));
            position = index.expiry().pass(position);
        } while (position != 0);
        assertThat(index.expiry().earliest()).isEqualTo(earliest);
        index.unlock();
    }

    private static long relocated(IndexedLog log, ShardIndex index, int key, long from, long to) {
        assertThat(index.relocate(log.position(key), from, to)).isTrue();
        return to;
    }

    private static void requireBound(
            IndexedLog log, ShardIndex index, Map<Integer, Long> model, int key, boolean walking) {
        final long address = model.getOrDefault(key, 0L);
        final long bound = address == 0 ? ExpiryBound.NEVER : ExpiryBound.of(log.expiryMsAt(address));
        assertThat(index.expiry().bound(log.position(key))).isLessThanOrEqualTo(bound);
        if (!walking) {
            assertThat(index.expiry().earliest()).isLessThanOrEqualTo(bound);
        }
    }

    private static long boundOfBucket(IndexedLog log, ShardIndex index, long position) {
        final AtomicLong bound = new AtomicLong(ExpiryBound.NEVER);
        index.visit(position, address -> bound.accumulateAndGet(ExpiryBound.of(log.expiryMsAt(address)), Math::min));
        return bound.get();
    }

    @Test
    void shouldRoundABoundUpToTheSecondInWhichItIsReached() {
        assertThat(ExpiryBound.of(Long.MAX_VALUE)).isEqualTo(ExpiryBound.NEVER);
        assertThat(ExpiryBound.of(1000)).isEqualTo(1);
        assertThat(ExpiryBound.of(1001)).isEqualTo(2);
        assertThat(ExpiryBound.of(1_700_000_000_000L)).isEqualTo(1_700_000_000L);
        // An expiry out of range is visited too early or a second late, and never treated as never.
        assertThat(ExpiryBound.of(-5000)).isEqualTo(1);
        assertThat(ExpiryBound.of(Long.MAX_VALUE - 1)).isEqualTo((1L << 32) - 1);
    }

    /** Positions follow hash order, so a traversal that continues after growth misses and repeats nothing. */
    @Property(tries = 100)
    void shouldVisitEverythingOnceWhileItGrows(@ForAll long seed, @ForAll @IntRange(max = 2) int crowding) {
        final RandomSource random = new SplittableRandomSource(seed);
        final IndexedLog log = new IndexedLog(positions(random, 600, crowding), 1);
        final ShardIndex index = new ShardIndex(log.region());
        index.lock(OWNER);
        final int before = 1 + random.nextInt(300);
        for (int key = 0; key < before; key++) {
            index.put(log.position(key), log.address(key, 0));
        }
        final Map<Integer, Integer> visits = new HashMap<>();
        int later = before;
        long position = 0;
        int pages = 0;
        do {
            final long from = position;
            position = index.visit(from, address -> visits.merge(log.keyAt(address), 1, Integer::sum));
            assertThat(position == 0 || Long.compareUnsigned(position, from) > 0)
                    .isTrue();
            for (int i = random.nextInt(20); i > 0 && later < log.keys(); i--, later++) {
                index.put(log.position(later), log.address(later, 0));
            }
            pages++;
        } while (position != 0);
        index.unlock();
        assertThat(pages).isGreaterThanOrEqualTo(4);
        for (int key = 0; key < before; key++) {
            assertThat(visits.get(key)).as("key %s", key).isEqualTo(1);
        }
        assertThat(visits.values()).allMatch(count -> count == 1);
    }

    /** Readers take no lock; a key that is always present is found at every moment of every split. */
    @Test
    void shouldAlwaysFindWhatIsThereWhileItGrowsAndShrinks() throws InterruptedException {
        final RandomSource random = new SplittableRandomSource(7);
        final IndexedLog log = new IndexedLog(positions(random, 20_000, 1), 2);
        final int stable = 500;
        final AtomicReference<String> wrong = new AtomicReference<>();
        for (int round = 0; round < 15 && wrong.get() == null; round++) {
            final ShardIndex index = new ShardIndex(log.region());
            index.lock(OWNER);
            for (int key = 0; key < stable; key++) {
                index.put(log.position(key), log.address(key, 0));
            }
            index.unlock();
            final Thread writer = new Thread(() -> {
                index.lock(OWNER);
                for (int key = stable; key < log.keys(); key++) {
                    index.put(log.position(key), log.address(key, 0));
                    if (key % 3 == 0) {
                        index.remove(log.position(key), log.address(key, 0));
                    }
                    final int moved = key % stable;
                    final int now = log.find(index, moved) == log.address(moved, 0) ? 0 : 1;
                    index.relocate(log.position(moved), log.address(moved, now), log.address(moved, 1 - now));
                }
                index.unlock();
            });
            writer.start();
            int key = 0;
            while (writer.isAlive()) {
                final long found = log.find(index, key);
                if (found != log.address(key, 0) && found != log.address(key, 1)) {
                    wrong.compareAndSet(null, "key " + key + " was found at " + found);
                }
                key = (key + 1) % stable;
            }
            writer.join();
        }
        assertThat(wrong.get()).isNull();
    }
}
