package org.rowankv.bench.paper.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class PersistentMemoryTest {
    private static final long LINE_NS = 100;
    private static final long READ_NS = 30;

    private static PersistentMemory memory(int dimms, int lines, int waiting) {
        return new PersistentMemory(new MemorySettings(dimms, lines, LINE_NS, READ_NS, waiting));
    }

    @Test
    void shouldMergeFourSectorsIntoOneLine() {
        final PersistentMemory memory = memory(1, 2, 4);
        for (int sector = 0; sector < 4; sector++) {
            memory.request(sector * 64L, 64, 0);
        }
        memory.evictAll(0);

        assertThat(memory.requestBytes()).isEqualTo(256);
        assertThat(memory.mediaBytes()).isEqualTo(256);
        assertThat(memory.writeAmplification()).isEqualTo(1);
    }

    @Test
    void shouldWriteAWholeLineForALoneSector() {
        final PersistentMemory memory = memory(1, 2, 4);
        memory.request(64, 64, 0);
        memory.evictAll(0);

        assertThat(memory.writeAmplification()).isEqualTo(4);
    }

    @Test
    void shouldEvictTheLineWrittenLeastRecently() {
        final PersistentMemory memory = memory(1, 2, 4);
        memory.request(0, 64, 0);
        memory.request(256, 64, 0);
        memory.request(64, 64, 0);
        memory.request(512, 64, 0); // evicts the second line
        memory.request(128, 128, 0); // completes the first
        memory.request(576, 64, 0); // a hit: the first is the older one again
        assertThat(memory.mediaBytes()).isEqualTo(256);

        memory.request(256, 64, 0); // evicts the first line, which is whole
        assertThat(memory.mediaBytes()).isEqualTo(512);
        assertThat(memory.lagNs(0, 0)).isEqualTo(LINE_NS + READ_NS + LINE_NS);
    }

    @Test
    void shouldRefuseWritesWhileTooManyEvictionsWait() {
        final PersistentMemory memory = memory(1, 1, 2);
        assertThat(memory.request(0, 256, 5)).isEqualTo(5);
        assertThat(memory.request(256, 256, 5)).isEqualTo(5);
        assertThat(memory.request(512, 256, 5)).isEqualTo(5);
        assertThat(memory.request(768, 256, 5)).isEqualTo(5 + LINE_NS);
        assertThat(memory.request(1024, 256, 5)).isEqualTo(5 + 2 * LINE_NS);
        assertThat(memory.request(1280, 256, 10_000)).isEqualTo(10_000);
    }

    @Test
    void shouldSpreadAddressesOverDimms() {
        final PersistentMemory memory = memory(3, 1, 1);
        for (int turn = 0; turn < 2; turn++) {
            for (long dimm = 0; dimm < 3; dimm++) {
                assertThat(memory.request(dimm * 4096, 64, 0)).isZero();
            }
        }
        assertThat(memory.mediaBytes()).isZero();
        assertThat(memory.request(3 * 4096, 64, 0)).isZero();
        assertThat(memory.mediaBytes()).isEqualTo(256);
        assertThat(memory.lagNs(0, 0)).isPositive();
        assertThat(memory.lagNs(4096, 0)).isZero();
    }

    @Test
    void shouldReadWhatAWriteCoversInPart() {
        final PersistentMemory memory = memory(1, 4, 4);
        memory.request(60, 8, 0);

        assertThat(memory.requestBytes()).isEqualTo(128);
        assertThat(memory.lagNs(0, 0)).isEqualTo(2 * READ_NS);
    }

    @Test
    void shouldKeepBuffersWhenCountsAreReset() {
        final PersistentMemory memory = memory(1, 1, 4);
        memory.request(0, 192, 0);
        memory.resetCounts();
        memory.request(192, 64, 0);
        memory.request(256, 64, 0);

        assertThat(memory.requestBytes()).isEqualTo(128);
        assertThat(memory.mediaBytes()).isEqualTo(256);
        assertThat(memory.lagNs(0, 0)).isEqualTo(LINE_NS);
    }

    @Test
    void shouldRefuseWhatIsNoRange() {
        final PersistentMemory memory = memory(1, 1, 1);
        assertThatThrownBy(() -> memory.request(-64, 64, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> memory.request(0, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new MemorySettings(1, 0, 1, 1, 1)).isInstanceOf(IllegalArgumentException.class);
    }

    /** Against a buffer that is a map in the order of writes. */
    @Test
    void shouldAgreeWithAMapOnRandomWrites() {
        final SplittableRandom random = new SplittableRandom(7);
        for (int round = 0; round < 50; round++) {
            final int lines = 1 + random.nextInt(50);
            final PersistentMemory memory = memory(1, lines, 4);
            final Map<Long, Integer> buffer = new LinkedHashMap<>(16, 0.75f, true);
            final int reach = 1 + random.nextInt(3 * lines);
            long evicted = 0;
            long busyNs = 0;
            for (int i = 0; i < 2_000; i++) {
                final long sector = random.nextInt(4 * reach) * (1L + random.nextInt(2) * 1_000_003L);
                final long line = sector / 4;
                if (!buffer.containsKey(line) && buffer.size() == lines) {
                    final long eldest = buffer.keySet().iterator().next();
                    evicted++;
                    busyNs += buffer.remove(eldest) == 15 ? LINE_NS : LINE_NS + READ_NS;
                }
                buffer.merge(line, 1 << (int) (sector % 4), (one, other) -> one | other);
                memory.request(sector * 64, 64, 0);
            }
            assertThat(memory.mediaBytes()).isEqualTo(evicted * 256);
            assertThat(memory.lagNs(0, 0)).isEqualTo(busyNs);
        }
    }

    /** The paper's Figure 2, in its simplest form: streams that take turns, without time. */
    @Test
    void shouldAmplifyOnlyBeyondWhatTheBuffersHold() {
        assertThat(amplificationOf(90)).isBetween(0.95, 1.05);
        assertThat(amplificationOf(180)).isGreaterThan(2);
        assertThat(amplificationOf(1)).isBetween(0.95, 1.03);
    }

    private static double amplificationOf(int streams) {
        final PersistentMemory memory = new PersistentMemory(MemorySettings.OF_THE_PAPER);
        final SplittableRandom random = new SplittableRandom(streams);
        final long[] next = new long[streams];
        for (int i = 0; i < streams; i++) {
            next[i] = ((long) i << 22) + 64L * random.nextInt(192);
        }
        for (int round = 0; round < 4_000; round++) {
            if (round == 1_000) {
                memory.resetCounts();
            }
            for (int i = 0; i < streams; i++) {
                memory.request(next[i], 64, 0);
                next[i] += 64;
            }
        }
        return memory.writeAmplification();
    }
}
