package org.rowankv.sim.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.durability.Durability;

class SimMemoryTest {
    private static final int SEGMENT = AreaSettings.MIN_SEGMENT_LENGTH;
    private static final AreaSettings SETTINGS =
            new AreaSettings(null, 2 * SEGMENT, SEGMENT, 0, 5, 1, Durability.POWER);

    /** A power cut with this source drops all that it may. */
    private static final RandomSource LEAST = new RandomSource() {
        @Override
        public long nextLong() {
            return 0;
        }

        @Override
        public int nextInt(int bound) {
            return 0;
        }

        @Override
        public RandomSource fork(String name) {
            return this;
        }
    };

    private final RandomSource random = new SplittableRandomSource(3).fork("memory");
    private final SimMemory memory = new SimMemory(SETTINGS);

    private static void store(Area area, long value) {
        final long address = area.segmentBase();
        area.region().buffer(address).putLong(area.region().offset(address), value);
    }

    private static long stored(Area area) {
        final long address = area.segmentBase();
        return area.region().buffer(address).getLong(area.region().offset(address));
    }

    @Test
    void shouldShowNobodyWhatAProcessStoresAfterItsEnd() {
        final List<Area> ended = new ArrayList<>();
        Area area = Area.create(SETTINGS, memory.present(), random);
        for (int life = 1; life <= 6; life++) {
            store(area, life);
            ended.add(area);
            memory.crash();
            area = Area.open(SETTINGS, memory.present(), OpenOverrides.NONE);
            for (Area one : ended) {
                store(one, -life);
            }
            assertThat(stored(area)).isEqualTo(life);
        }
    }

    @Test
    void shouldLetNoProcessForceAfterItsEnd() {
        final AreaMemory ended = memory.present();
        ended.header().putLong(0, 1);
        ended.flushAll();
        memory.crash();
        final AreaMemory present = memory.present();
        present.header().putLong(0, 2);
        ended.header().putLong(0, 3);
        ended.flushAll();
        ended.device().flush(0, Long.BYTES);
        memory.cutPower(LEAST, happened -> {});
        assertThat(memory.present().header().getLong(0)).isEqualTo(1);
    }
}
