package org.rowankv.server.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.ManualClock;

final class ScanProgressTest {
    private final ManualClock clock = new ManualClock();
    private final List<String> said = new ArrayList<>();
    private final ScanProgress progress = new ScanProgress(2, 400, clock, said::add);

    private void read(int segments, long entriesEach) {
        for (int i = 0; i < segments; i++) {
            progress.segmentRead(entriesEach);
        }
    }

    @Test
    void shouldSayNothingOfAShortScan() {
        clock.advanceNs(ScanProgress.EVERY_NS - 1);
        read(400, 10);
        assertThat(said).isEmpty();
    }

    @Test
    void shouldSayNowAndThenHowFarALongOneHasCome() {
        read(99, 20_000);
        clock.advanceNs(ScanProgress.EVERY_NS);
        read(10, 20_000);
        clock.advanceNs(ScanProgress.EVERY_NS);
        read(1, 5);
        assertThat(said)
                .containsExactly(
                        "server 2 is being read: 100 of 400 segments (25 %), 2,000,000 entries",
                        "server 2 is being read: 110 of 400 segments (27 %), 2,180,005 entries");
    }
}
