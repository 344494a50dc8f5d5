package org.rowankv.server.cleaning;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.server.log.EntryType;

/** When the cleaner reports that no more space can be freed. */
final class CleanAgentTest {
    private static final int CYCLES = 1_000;

    private final CleanedShard shard = new CleanedShard();

    @Test
    void shouldSayThatThereIsNoMoreOnlyWhenNoLogIsLeftToClose() {
        shard.write(EntryType.PUT, "k", 100);
        shard.closesIdleLog = true;
        shard.cleaner.requestSpace();
        shard.cleaner.doWork();
        // The segment of the log that it closed was not scanned yet.
        assertThat(shard.cleaner.isSpaceRequested()).isTrue();
        for (int cycle = 0; cycle < CYCLES && shard.cleaner.isSpaceRequested(); cycle++) {
            shard.cleaner.doWork();
        }
        assertThat(shard.cleaner.isSpaceRequested()).isFalse();
    }
}
