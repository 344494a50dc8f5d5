package org.rowankv.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.protocol.ResultBits;

/** What readers are told about an entry that is damaged. */
class DamagedEntriesTest {
    private static final long ADDRESS = 4096;
    private static final int GENERATION = 3;

    private final DamagedEntries damage = new DamagedEntries();

    @Test
    void shouldPromiseNoRepairWithoutOtherReplicas() {
        assertThat(damage.answerBits(ADDRESS, GENERATION)).isZero();
    }

    @Test
    void shouldPromiseARepairUntilNoReplicaHasTheEntry() {
        damage.hasOthers();
        assertThat(damage.answerBits(ADDRESS, GENERATION)).isEqualTo(ResultBits.REPAIRABLE);
        damage.lost(ADDRESS, GENERATION);
        assertThat(damage.answerBits(ADDRESS, GENERATION)).isZero();
        assertThat(damage.answerBits(ADDRESS, GENERATION + 1))
                .as("another use of the segment")
                .isEqualTo(ResultBits.REPAIRABLE);
    }
}
