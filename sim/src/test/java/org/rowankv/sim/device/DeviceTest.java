package org.rowankv.sim.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.SplittableRandomSource;

class DeviceTest {
    private static final int LENGTH = 16 << 10;
    private static final int CUTS = 50;

    private final ByteBuffer durable = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer stored = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    private final Device device = new Device(durable);
    private final Set<String> happened = new TreeSet<>();

    private void store(long value) {
        for (int at = 0; at < LENGTH; at += Long.BYTES) {
            stored.putLong(at, value);
        }
    }

    private void force(int start, int end) {
        device.begin(true);
        device.write(stored, start, end);
    }

    @Test
    void shouldKeepWhatWasForcedAndSomeOfTheRestInWordsAndSectors() {
        for (int cut = 0; cut < CUTS; cut++) {
            store(1);
            force(0, LENGTH);
            store(2);
            force(512, 1024 + 8);
            final int dropped = device.cutPower(stored, new SplittableRandomSource(cut), happened::add);
            assertThat(stored).isEqualTo(durable);
            int found = 0;
            for (int at = 0; at < LENGTH; at += Long.BYTES) {
                if (at >= 512 && at < 1024 + 8) {
                    assertThat(stored.getLong(at)).isEqualTo(2);
                }
                found += stored.getLong(at) == 1 ? 1 : 0;
            }
            assertThat(found).isEqualTo(dropped);
        }
        assertThat(happened).containsExactly("sectors that power cuts dropped", "sectors that power cuts tore");
    }

    @Test
    void shouldLoseTheNewestForcesIfItLies() {
        device.lie();
        for (int cut = 0; cut < CUTS; cut++) {
            for (int i = 0; i < 40; i++) {
                store(i + 1);
                force(0, LENGTH);
            }
            final int dropped = device.cutPower(stored, new SplittableRandomSource(cut), happened::add);
            assertThat(dropped).isZero();
            assertThat(stored).isEqualTo(durable);
            // One whole force, and not the newest.
            final long kept = stored.getLong(0);
            assertThat(kept).isBetween(1L, 39L);
            for (int at = 0; at < LENGTH; at += Long.BYTES) {
                assertThat(stored.getLong(at)).isEqualTo(kept);
            }
        }
        assertThat(happened).contains("forces that a device had reported and lost");
    }

    @Test
    void shouldFailOnceAndKeepNothingOfWhatComesThen() {
        store(1);
        force(0, LENGTH);
        device.failIn(1, false, new SplittableRandomSource(3));
        device.begin(false); // not of a store in use
        store(2);
        force(0, 8);
        store(3);
        assertThatThrownBy(() -> force(0, 4096))
                .isInstanceOfSatisfying(
                        UncheckedIOException.class,
                        e -> assertThat(DeviceFailedException.isCauseOf(e)).isTrue());
        assertThat(device.hasFailed()).isTrue();
        force(8192, LENGTH);
        assertThat(durable.getLong(8192)).isEqualTo(1);
        device.replaced();
        force(8192, LENGTH);
        assertThat(durable.getLong(8192)).isEqualTo(3);
    }

    @Test
    void shouldLosePowerInTheMiddleOfTheLastWriteOfAnArea() {
        device.endPowerAtClose(0);
        store(1);
        device.begin(false);
        device.writeOrEnd(stored, 0, 8); // a superblock, long before
        assertThatThrownBy(() -> device.writeOrEnd(stored, 0, LENGTH)).isInstanceOf(PowerFailure.class);
        assertThat(durable.getLong(LENGTH / 2 - 8)).isEqualTo(1);
        assertThat(durable.getLong(LENGTH - 8)).isZero();
    }
}
