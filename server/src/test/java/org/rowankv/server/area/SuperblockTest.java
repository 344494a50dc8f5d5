package org.rowankv.server.area;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.rowankv.server.area.SuperblockDescriptor.Content;
import org.rowankv.server.durability.CrashMemory;

class SuperblockTest {
    private static final BootId BOOT = new BootId(7, 8);
    private static final Content NEW =
            new Content(1, 11, 12, 0, 0, BOOT, 99, 2, 1 << 16, 64, 48, 3, 3, false, false, false, false);

    private final CrashMemory memory = new CrashMemory(AreaDescriptor.TENURES_OFFSET);

    @Test
    void shouldLayFieldsOutWithoutOverlapInsideTheirPage() {
        final int[] ends = {
            SuperblockDescriptor.FORMAT_VERSION_OFFSET, 8,
            SuperblockDescriptor.CHECKSUM_OFFSET, 12,
            SuperblockDescriptor.SEQUENCE_OFFSET, 16,
            SuperblockDescriptor.CLUSTER_ID_OFFSET, 24,
            SuperblockDescriptor.AREA_ID_OFFSET, 32,
            SuperblockDescriptor.INCARNATION_OFFSET, 40,
            SuperblockDescriptor.TERM_OFFSET, 48,
            SuperblockDescriptor.BOOT_ID_OFFSET, 56,
            SuperblockDescriptor.FILE_IDENTITY_OFFSET, 72,
            SuperblockDescriptor.SERVER_ID_OFFSET, 80,
            SuperblockDescriptor.SEGMENT_LENGTH_OFFSET, 84,
            SuperblockDescriptor.SEGMENT_COUNT_OFFSET, 88,
            SuperblockDescriptor.SHARD_COUNT_OFFSET, 92,
            SuperblockDescriptor.SERVER_COUNT_OFFSET, 96,
            SuperblockDescriptor.REPLICA_COUNT_OFFSET, 100,
            SuperblockDescriptor.CLEAN_OFFSET, 104,
            SuperblockDescriptor.POWER_OFFSET, 108,
            SuperblockDescriptor.INCOMPLETE_OFFSET, 112,
            SuperblockDescriptor.TORN_OFFSET, 116,
            SuperblockDescriptor.RESERVED_OFFSET, 120
        };
        for (int i = 0; i < ends.length; i += 2) {
            assertThat(ends[i]).isEqualTo(ends[i + 1]);
        }
        assertThat(SuperblockDescriptor.LENGTH).isEqualTo(128).isLessThanOrEqualTo(AreaDescriptor.PAGE);
        assertThat(SuperblockDescriptor.offsetOf(1)).isNotEqualTo(SuperblockDescriptor.offsetOf(2));
    }

    @Test
    void shouldReadBackWhatWasWritten() {
        final Content content =
                new Content(5, -1, Long.MIN_VALUE, 3, 4, BOOT, 6, 7, 8, 9, 10, 11, 12, true, true, true, true);
        SuperblockDescriptor.write(memory.visible(), 4096, content);
        assertThat(SuperblockDescriptor.whyInvalid(memory.visible(), 4096)).isNull();
        assertThat(SuperblockDescriptor.read(memory.visible(), 4096)).isEqualTo(content);
    }

    @Test
    void shouldRefuseEveryFlippedBit() {
        final ByteBuffer bytes = memory.visible();
        SuperblockDescriptor.write(bytes, 0, NEW);
        for (int bit = 0; bit < SuperblockDescriptor.LENGTH * Byte.SIZE; bit++) {
            final byte mask = (byte) (1 << (bit % Byte.SIZE));
            bytes.put(bit / Byte.SIZE, (byte) (bytes.get(bit / Byte.SIZE) ^ mask));
            assertThat(SuperblockDescriptor.whyInvalid(bytes, 0))
                    .as("bit %d", bit)
                    .isNotNull();
            bytes.put(bit / Byte.SIZE, (byte) (bytes.get(bit / Byte.SIZE) ^ mask));
        }
        assertThat(SuperblockDescriptor.whyInvalid(bytes, 0)).isNull();
    }

    @Test
    void shouldFindTheStateBeforeOrAfterAChangeWhateverACrashKeeps() {
        final Content formatted = Superblock.format(memory.visible(), memory, NEW);
        final Superblock superblock = new Superblock(memory.visible(), memory, BOOT, 99, false, formatted);
        final List<ByteBuffer> found = new ArrayList<>();
        final Random random = new Random(1);
        memory.beforeDrain(() -> {
            for (int i = 0; i < 200; i++) {
                found.add(memory.crash(random));
            }
        });
        for (int round = 1; round <= 6; round++) {
            found.clear();
            superblock.startIncarnation();
            for (ByteBuffer image : found) {
                final Content content = Superblock.newestValid(image);
                assertThat(content).isNotNull();
                assertThat(content.incarnation()).isBetween(round - 1L, (long) round);
            }
            assertThat(Superblock.newestValid(memory.crash(random)).incarnation())
                    .isEqualTo(round);
        }
    }

    @Test
    void shouldTakeTheCleanMarkAwayWithTheStartOfAnIncarnation() {
        final Superblock superblock = new Superblock(
                memory.visible(), memory, BOOT, 99, false, Superblock.format(memory.visible(), memory, NEW));
        superblock.startIncarnation();
        superblock.markClean();
        assertThat(superblock.isClean()).isTrue();
        assertThat(Superblock.newestValid(memory.crash(new Random(1))).clean()).isTrue();
        assertThat(superblock.startIncarnation()).isEqualTo(2);
        assertThat(Superblock.newestValid(memory.crash(new Random(1))).clean()).isFalse();
    }

    @Test
    void shouldHaveTheMarkOfWhatIsLackingOnTheDeviceAtOnceAndKeepIt() {
        final Superblock superblock = new Superblock(
                memory.visible(), memory, BOOT, 99, false, Superblock.format(memory.visible(), memory, NEW));
        superblock.startIncarnation();
        superblock.markIncomplete();
        assertThat(Superblock.newestValid(memory.crash(new Random(1))).incomplete())
                .isTrue();
        superblock.adoptTerm(8);
        superblock.startIncarnation();
        superblock.markClean();
        assertThat(Superblock.newestValid(memory.crash(new Random(1))).incomplete())
                .isTrue();
    }

    /** Of an area whose mark was written while the device refused it; writes succeed again from now on. */
    private Superblock withFailedMark() {
        final Superblock superblock = new Superblock(
                memory.visible(), memory, BOOT, 99, false, Superblock.format(memory.visible(), memory, NEW));
        superblock.startIncarnation();
        final AtomicBoolean broken = new AtomicBoolean(true);
        memory.beforeDrain(() -> {
            if (broken.get()) {
                throw new IllegalStateException("planted");
            }
        });
        assertThatThrownBy(superblock::markIncomplete).hasMessage("planted");
        broken.set(false);
        return superblock;
    }

    @Test
    void shouldKeepTheMarkOfWhatIsLackingAlthoughItsForceFailed() {
        final Superblock superblock = withFailedMark();
        assertThat(superblock.isIncomplete()).isTrue();
        superblock.adoptTerm(8);
        assertThat(Superblock.newestValid(memory.crash(new Random(1))).incomplete())
                .isTrue();
        superblock.acceptIncomplete();
        superblock.markClean();
        assertThat(Superblock.newestValid(memory.crash(new Random(1))).incomplete())
                .isTrue();
    }

    @Test
    void shouldMarkWhatIsLackingOnTheDeviceWhenItIsTriedAgain() {
        final Superblock superblock = withFailedMark();
        superblock.markIncomplete();
        assertThat(Superblock.newestValid(memory.crash(new Random(1))).incomplete())
                .isTrue();
    }

    @Test
    void shouldRefuseATermLowerThanTheHighestAdopted() {
        final Superblock superblock = new Superblock(
                memory.visible(), memory, BOOT, 99, false, Superblock.format(memory.visible(), memory, NEW));
        superblock.adoptTerm(8);
        superblock.adoptTerm(8);
        assertThatThrownBy(() -> superblock.adoptTerm(7))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("8")
                .hasMessageContaining("7");
        assertThat(Superblock.newestValid(memory.crash(new Random(1))).term()).isEqualTo(8);
        superblock.startIncarnation();
        assertThat(superblock.term()).isEqualTo(8);
    }
}
