package org.rowankv.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class TombstoneMapTest {
    private final TombstoneMap memory = new TombstoneMap();
    private final List<String> removed = new ArrayList<>();

    private int forget(long commitVersion) {
        return memory.forget(
                commitVersion,
                (position, address, version) -> removed.add(position + "@" + address + " of " + version));
    }

    @Test
    void shouldForgetWhatCommitVerHasPassedAndNoteIt() {
        memory.remember(1, 100, 7);
        memory.remember(2, 200, 9);
        assertThat(memory.forgottenUpTo()).isZero();
        assertThat(forget(8)).isEqualTo(1);
        assertThat(removed).containsExactly("1@100 of 7");
        assertThat(memory.size()).isEqualTo(1);
        assertThat(memory.forgottenUpTo()).isEqualTo(7);
        memory.forgetUnseen(8);
        assertThat(memory.forgottenUpTo()).isEqualTo(8);
        memory.forgetUnseen(3);
        assertThat(memory.forgottenUpTo()).isEqualTo(8);
    }

    /** Whichever is moved, the oldest and the newest too: it is removed at its new address. */
    @Test
    void shouldFindEachDeletionWhereTheCleanerHasMovedIt() {
        for (int moved = 0; moved < 3; moved++) {
            final TombstoneMap each = new TombstoneMap();
            for (int i = 0; i < 3; i++) {
                each.remember(i, 100 + i, i + 1);
            }
            assertThat(each.relocate(100 + moved, 900, () -> true)).isTrue();
            final List<Long> addresses = new ArrayList<>();
            each.forget(3, (position, address, version) -> addresses.add(address));
            final List<Long> expected = new ArrayList<>(List.of(100L, 101L, 102L));
            expected.set(moved, 900L);
            assertThat(addresses).as("the one moved is %d", moved).isEqualTo(expected);
        }
    }

    @Test
    void shouldLeaveADeletionThatCouldNotBeMovedWhereItIs() {
        memory.remember(1, 100, 7);
        assertThat(memory.relocate(100, 900, () -> false)).isFalse();
        forget(7);
        assertThat(removed).containsExactly("1@100 of 7");
    }

    @Test
    void shouldKeepTheirOrderHoweverManyThereAre() {
        final Random random = new Random(5);
        final List<Long> expected = new ArrayList<>();
        final List<Long> forgotten = new ArrayList<>();
        long version = 0;
        for (int round = 0; round < 200; round++) {
            for (int i = random.nextInt(40); i > 0; i--) {
                version++;
                memory.remember(version, 10 * version, version);
                expected.add(10 * version);
            }
            memory.forget(version - random.nextInt(50), (position, address, itsVersion) -> forgotten.add(address));
        }
        memory.forget(version, (position, address, itsVersion) -> forgotten.add(address));
        assertThat(forgotten).isEqualTo(expected);
        assertThat(memory.size()).isZero();
    }
}
