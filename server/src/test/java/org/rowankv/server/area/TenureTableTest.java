package org.rowankv.server.area;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rowankv.server.durability.CrashMemory;

class TenureTableTest {
    private static final int SHARDS = 16;

    private final CrashMemory memory =
            new CrashMemory(AreaDescriptor.TENURES_OFFSET + SHARDS * AreaDescriptor.TENURE_LENGTH);
    private final TenureTable table = new TenureTable(memory.visible(), memory, SHARDS);

    @Test
    void shouldBeNoMemberAtFirst() {
        assertThat(table.tenure(15)).isZero();
        assertThat(table.whyInvalid()).isNull();
        assertThat(AreaDescriptor.TENURES_OFFSET % Long.BYTES).isZero();
    }

    /** The beginning of a membership is durable before the configuration is acknowledged. */
    @Test
    void shouldBeDurableBeforeItReturns() {
        final Random random = new Random(3);
        for (int epoch = 1; epoch < 100; epoch++) {
            table.set(epoch % SHARDS, epoch);
            final TenureTable restarted = new TenureTable(memory.crash(random), memory, SHARDS);
            assertThat(restarted.whyInvalid()).isNull();
            assertThat(restarted.tenure(epoch % SHARDS)).isEqualTo(epoch);
        }
    }

    @Test
    void shouldEndAndBeginAnewButNeverReachBack() {
        table.set(3, 10);
        assertThatThrownBy(() -> table.set(3, 9)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> table.set(3, -1)).isInstanceOf(IllegalArgumentException.class);
        table.set(3, 0);
        assertThat(table.tenure(3)).isZero();
        table.set(3, 12);
        assertThat(table.tenure(3)).isEqualTo(12);
        assertThatThrownBy(() -> table.set(SHARDS, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldTellADamagedOrMisplacedWord() {
        table.set(1, 5);
        final int at = AreaDescriptor.TENURES_OFFSET + AreaDescriptor.TENURE_LENGTH;
        for (int bit = 0; bit < Long.SIZE; bit++) {
            memory.visible().putLong(at, memory.visible().getLong(at) ^ 1L << bit);
            assertThat(table.whyInvalid()).as("bit %d", bit).contains("shard 1");
            memory.visible().putLong(at, memory.visible().getLong(at) ^ 1L << bit);
        }
        memory.visible()
                .putLong(at + AreaDescriptor.TENURE_LENGTH, memory.visible().getLong(at));
        assertThat(table.whyInvalid()).contains("shard 2");
    }
}
