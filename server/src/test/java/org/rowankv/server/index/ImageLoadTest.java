package org.rowankv.server.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;

/** The groups of an image, loaded into an index of the size that it was written from, and of others. */
final class ImageLoadTest {
    private static final long BOUND = 1_000;
    private static final int STRIDE = 64;
    /** The load reads no log. */
    private static final MemoryRegion NO_LOG = MemoryRegion.of(ByteBuffer.allocateDirect(STRIDE));

    /** As a checkpoint writes them: a bucket's items are a group, in the order of positions. */
    private static List<long[]> groups(ShardIndex index) {
        final List<long[]> groups = new ArrayList<>();
        long position = 0;
        do {
            final List<Long> group = new ArrayList<>();
            position = index.visitItems(position, group::add);
            groups.add(group.stream().mapToLong(Long::longValue).toArray());
        } while (position != 0);
        return groups;
    }

    private static List<Long> sorted(List<long[]> groups) {
        final List<Long> all = new ArrayList<>();
        groups.forEach(group -> {
            for (long item : group) {
                all.add(item);
            }
        });
        Collections.sort(all);
        return all;
    }

    private static ShardIndex loaded(List<long[]> groups, long reserved) {
        final ShardIndex index = new ShardIndex(NO_LOG);
        index.beginLoad(reserved);
        groups.forEach(group -> index.load(group, group.length, BOUND));
        return index;
    }

    /** @param crowding bits that all tags share, so that some buckets have long chains */
    @Property(tries = 200)
    void shouldHoldEachItemWhereReadersLookForIt(
            @ForAll long seed, @ForAll @IntRange(max = 12) int crowding, @ForAll @IntRange(max = 2) int other) {
        final RandomSource random = new SplittableRandomSource(seed);
        final int count = 1 + random.nextInt(3_000);
        final List<long[]> single = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            final int tag = random.nextInt(1 << IndexItem.TAG_BITS) >>> crowding << crowding;
            single.add(new long[] {IndexItem.of(tag, (long) i * STRIDE)});
        }
        final List<long[]> groups = groups(loaded(single, count));
        final ShardIndex index = loaded(groups, other == 0 ? count : other == 1 ? count / 5L : count * 5L);

        assertThat(index.count()).isEqualTo(count);
        assertThat(sorted(groups(index))).isEqualTo(sorted(single));
        for (long[] one : single) {
            final long position = IndexItem.position(one[0]);
            assertThat(index.refers(position, IndexItem.address(one[0]))).isTrue();
            assertThat(index.expiry().bound(position)).isEqualTo(BOUND);
        }
    }

    @Property(tries = 20)
    void shouldLoadOnlySoManyOfAGroup(@ForAll long seed) {
        final RandomSource random = new SplittableRandomSource(seed);
        final long[] group = new long[10];
        for (int i = 0; i < group.length; i++) {
            group[i] = IndexItem.of(random.nextInt(1 << IndexItem.TAG_BITS), (long) (i + 1) * STRIDE);
        }
        final ShardIndex index = new ShardIndex(NO_LOG);
        index.beginLoad(group.length);
        final int loaded = random.nextInt(group.length);
        index.load(group, loaded, BOUND);
        assertThat(index.count()).isEqualTo(loaded);
        for (int i = 0; i < group.length; i++) {
            assertThat(index.refers(IndexItem.position(group[i]), IndexItem.address(group[i])))
                    .isEqualTo(i < loaded);
        }
    }
}
