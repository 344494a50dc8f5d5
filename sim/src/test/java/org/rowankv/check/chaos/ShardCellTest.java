package org.rowankv.check.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ShardCellTest {
    private final ShardCell cell = new ShardCell(new byte[1]);

    @BeforeEach
    void writeThree() {
        for (int i = 0; i < 3; i++) {
            cell.acknowledge(cell.issue());
        }
    }

    @Test
    void shouldAcceptWhatIsOnItsWay() {
        final long written = cell.issue();
        assertThat(cell.judgeRead(written, 3)).isNull();
        assertThat(cell.judgeRead(3, 3)).isNull();
        assertThat(cell.judgeReplaced(3, written)).isNull();
    }

    @Test
    void shouldFindAReadOfAnOldValue() {
        assertThat(cell.judgeRead(2, 3)).isEqualTo(ChaosFindings.Kind.STALE);
    }

    @Test
    void shouldFindAReadOfAValueThatWasNeverSent() {
        assertThat(cell.judgeRead(4, 3)).isEqualTo(ChaosFindings.Kind.UNEXPLAINED);
    }

    @Test
    void shouldFindAWriteThatReplacesAnOlderValueThanTheAcknowledgedOne() {
        assertThat(cell.judgeReplaced(2, cell.issue())).isEqualTo(ChaosFindings.Kind.LOST);
    }

    @Test
    void shouldFindAWriteThatReplacesItself() {
        final long written = cell.issue();
        assertThat(cell.judgeReplaced(written, written)).isEqualTo(ChaosFindings.Kind.DOUBLED);
    }
}
