package org.rowankv.check.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EventLedgerTest {
    private final ChaosFindings findings = new ChaosFindings();
    private final EventLedger ledger = new EventLedger(findings);

    private long written(int shard, long version) {
        final long number = ledger.issue();
        ledger.acknowledged(number, shard, version);
        return number;
    }

    @Test
    void shouldAcceptEachChangeOnceBeforeOrAfterTheAnswer() {
        final long first = written(3, 10);
        ledger.received(3, 10, first);
        final long second = ledger.issue();
        ledger.received(3, 12, second);
        ledger.acknowledged(second, 3, 12);
        final long unknown = ledger.issue();
        ledger.received(4, 2, unknown);
        ledger.requireComplete();
        assertThat(findings.take()).isEmpty();
        assertThat(ledger.delivered()).isEqualTo(3);
    }

    @Test
    void shouldFindAChangeThatNeverCame() {
        written(3, 10);
        assertThat(ledger.isComplete()).isFalse();
        ledger.requireComplete();
        assertThat(findings.count(ChaosFindings.Kind.LOST)).isEqualTo(1);
        assertThat(ledger.isComplete()).isTrue();
    }

    @Test
    void shouldFindAChangeThatCameTwiceOrOutOfOrder() {
        final long first = written(3, 10);
        ledger.received(3, 10, first);
        ledger.received(3, 10, first);
        assertThat(findings.count(ChaosFindings.Kind.DOUBLED)).isEqualTo(1);
        final long second = written(3, 9);
        ledger.received(3, 9, second);
        assertThat(findings.count(ChaosFindings.Kind.UNEXPLAINED)).isEqualTo(1);
    }

    @Test
    void shouldFindAWriteThatTookEffectTwice() {
        final long number = ledger.issue();
        ledger.received(3, 10, number);
        ledger.received(3, 11, number);
        assertThat(findings.count(ChaosFindings.Kind.DOUBLED)).isEqualTo(1);
        ledger.acknowledged(number, 3, 11);
        assertThat(findings.count(ChaosFindings.Kind.UNEXPLAINED)).isEqualTo(1);
    }

    /** The change of the acknowledged version is still missing. */
    @Test
    void shouldFindAChangeWithAnotherVersionThanItsAnswer() {
        final long number = written(3, 12);
        ledger.received(3, 10, number);
        assertThat(findings.count(ChaosFindings.Kind.UNEXPLAINED)).isEqualTo(1);
    }

    @Test
    void shouldFindAChangeOfNoWriteOrWithAnotherVersion() {
        ledger.received(3, 10, 1);
        assertThat(findings.count(ChaosFindings.Kind.UNEXPLAINED)).isEqualTo(1);
        final long number = ledger.issue();
        ledger.received(4, 10, number);
        ledger.acknowledged(number, 4, 11);
        assertThat(findings.count(ChaosFindings.Kind.UNEXPLAINED)).isEqualTo(2);
    }

    @Test
    void shouldExcuseWhatAReportedLossCoversAndNothingElse() {
        written(3, 10);
        written(4, 10);
        written(3, 13);
        ledger.lost(3, 9, 12);
        written(3, 11);
        ledger.requireComplete();
        assertThat(findings.take())
                .hasSize(2)
                .anyMatch(text -> text.contains("version 10 of shard 4"))
                .anyMatch(text -> text.contains("version 13 of shard 3"));
    }
}
