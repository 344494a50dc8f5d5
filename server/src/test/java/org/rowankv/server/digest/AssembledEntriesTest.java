package org.rowankv.server.digest;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.server.digest.AssembledEntries.Key;

/** Assembled entries are remembered until CommitVer covers them, shard by shard. */
final class AssembledEntriesTest {
    private final AssembledEntries done = new AssembledEntries();

    @Test
    void shouldForgetWhatAModelForgets() {
        final Set<Key> model = new HashSet<>();
        final Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            final Key key = new Key(random.nextInt(5), random.nextInt(200), random.nextInt(2));
            if (random.nextInt(20) == 0) {
                final long version = random.nextInt(200);
                done.forget(key.shard(), version);
                model.removeIf(each -> each.shard() == key.shard() && each.version() <= version);
            } else {
                done.add(key);
                model.add(key);
            }
            assertThat(done.contains(key)).isEqualTo(model.contains(key));
            assertThat(done.count()).isEqualTo(model.size());
        }
        for (int shard = 0; shard < 5; shard++) {
            for (int version = 0; version < 200; version++) {
                for (int type = 0; type < 2; type++) {
                    final Key key = new Key(shard, version, type);
                    assertThat(done.contains(key)).isEqualTo(model.contains(key));
                }
            }
        }
    }

    @Test
    void shouldForgetNothingOfOtherShards() {
        done.add(new Key(1, 5, 0));
        done.add(new Key(1, 6, 0));
        done.add(new Key(2, 1, 0));
        done.forget(3, Long.MAX_VALUE);
        done.forget(1, 5);
        assertThat(done.count()).isEqualTo(2);
        assertThat(done.contains(new Key(1, 5, 0))).isFalse();
        assertThat(done.contains(new Key(1, 6, 0))).isTrue();
        assertThat(done.contains(new Key(2, 1, 0))).isTrue();
    }

    /** Called for each shard in a record of CommitVer, by the digesting thread. */
    @Test
    void shouldAllocateNothingWhereThereIsNothingToForget() {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        final int shards = 4_096;
        for (int held = 0; held < 2; held++) {
            if (held == 1) {
                done.add(new Key(1, Long.MAX_VALUE, 0));
            }
            long allocated = Long.MAX_VALUE;
            for (int attempt = 0; attempt < 5; attempt++) { // allocations of the compiler are not counted
                final long before = threads.getCurrentThreadAllocatedBytes();
                for (int round = 0; round < 100; round++) {
                    for (int shard = 0; shard < shards; shard++) {
                        done.forget(shard, 7);
                    }
                }
                allocated = Math.min(allocated, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertThat(allocated).as("%d entries held", held).isLessThan(shards);
        }
    }
}
