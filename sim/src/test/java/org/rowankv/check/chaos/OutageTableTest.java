package org.rowankv.check.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutageTableTest {
    private static final FaultOutcome OUTCOME = new FaultOutcome(
            new ChaosRound(ChaosFault.KILL, 1, 2, 3, 4),
            "server-2 killed",
            List.of(FaultOutcome.Role.AFFECTED, FaultOutcome.Role.AFFECTED, FaultOutcome.Role.UNAFFECTED),
            List.of(500_000_000L, 700_000_000L, 9_000_000L),
            List.of(400_000_000L, 600_000_000L, 8_000_000L),
            2_500_000_000L,
            "");

    @TempDir
    Path dir;

    @Test
    void shouldSayWhatAFaultCosts() {
        final List<String> lines = new OutageTable(List.of(OUTCOME)).lines();
        assertThat(lines).hasSize(3);
        assertThat(lines.get(2).trim().split("\\s+"))
                .containsExactly("kill", "1", "500", "700", "700", "-", "-", "-", "9", "9", "9", "2.5", "2.5");
    }

    @Test
    void shouldTakeTheNearestRank() {
        assertThat(OutageTable.percentile(List.of(30L, 10L, 20L), 50)).isEqualTo(20);
        assertThat(OutageTable.percentile(List.of(30L, 10L, 20L), 99)).isEqualTo(30);
        assertThat(OutageTable.percentile(List.of(10L), 50)).isEqualTo(10);
    }

    @Test
    void shouldWriteALinePerShard() throws Exception {
        final Path file = dir.resolve("outages.csv");
        new OutageTable(List.of(OUTCOME)).writeCsv(file);
        assertThat(Files.readAllLines(file))
                .hasSize(4)
                .element(1)
                .isEqualTo("1,kill,\"server-2 killed\",0,affected,500.0,400.0,2500,\"\"");
    }
}
