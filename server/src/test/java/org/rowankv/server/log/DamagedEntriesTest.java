package org.rowankv.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.protocol.ResultBits;

/** Whether answers about a damaged entry promise its repair. */
class DamagedEntriesTest {
    private static final int SEGMENT = 1;
    private static final long ADDRESS = 4096;
    private static final int GENERATION = 3;

    private final DamagedEntries damage = new DamagedEntries();

    private int bits(int generation) {
        return damage.answerBits(SEGMENT, ADDRESS, generation);
    }

    @Test
    void shouldPromiseARepairUntilNoReplicaHasTheEntry() {
        assertThat(bits(GENERATION)).isEqualTo(ResultBits.REPAIRABLE);
        damage.lost(ADDRESS, GENERATION);
        assertThat(bits(GENERATION)).isZero();
        assertThat(bits(GENERATION + 1)).as("another use of the segment").isEqualTo(ResultBits.REPAIRABLE);
    }

    @Test
    void shouldPromiseNoRepairWhereOneWasTriedInVain() {
        final DamagedEntries.Suspect use = new DamagedEntries.Suspect(SEGMENT, GENERATION);
        damage.inVain(use);
        assertThat(bits(GENERATION)).isZero();
        damage.examinedEarly(use);
        assertThat(bits(GENERATION)).isEqualTo(ResultBits.REPAIRABLE);
        damage.undecided(use, 7);
        assertThat(bits(GENERATION)).isZero();
    }

    @Test
    void shouldHaveEachEntryReportedOnceInAUseOfItsSegment() {
        damage.suspect(SEGMENT, GENERATION);
        assertThat(damage.isToBeReported(100, GENERATION)).isTrue();
        assertThat(damage.isToBeReported(100, GENERATION)).isFalse();
        assertThat(damage.isToBeReported(200, GENERATION)).isTrue();
        assertThat(damage.isToBeReported(100, GENERATION + 1)).isTrue();
    }
}
