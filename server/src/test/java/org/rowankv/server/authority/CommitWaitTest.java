package org.rowankv.server.authority;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CommitWaitTest {
    private static final LeaseTimes TIMES = new LeaseTimes(400, 80);
    private static final Electorate FIRST = new Electorate(1, 0, List.of(1L, 1L, 1L), List.of(0, 1, 2));
    /** Of server 2, against server 0. */
    private static final Electorate SECOND = FIRST.succeeded(2, 1, Set.of(0));

    private static ClockReading at(long ns) {
        return new ClockReading(ns, 0);
    }

    private static long remaining(CommitWait wait, Electorate stored, long now) {
        return wait.remainingNs(stored, SlotReadings.NONE, at(now), TIMES);
    }

    @Test
    void shouldWaitForTwoLeasesAfterAnElection() {
        final CommitWait wait = new CommitWait(at(1000), null, Set.of());
        assertThat(remaining(wait, SECOND, 1000)).isEqualTo(960);
        assertThat(remaining(wait, SECOND, 1959)).isEqualTo(1);
        assertThat(remaining(wait, SECOND, 5000)).isZero();
    }

    @Test
    void shouldWaitForOneLeaseOnceAllOthersHavePrepared() {
        final CommitWait none = new CommitWait(at(1000), FIRST, Set.of());
        assertThat(remaining(none, SECOND, 1000)).isEqualTo(960);
        final CommitWait one = none.preparedBy(2, 1);
        assertThat(remaining(one, SECOND, 1000)).isEqualTo(960);
        assertThat(remaining(one.preparedBy(1, 2), SECOND, 1000))
                .as("another process than the one that may hold a lease")
                .isEqualTo(960);
        assertThat(remaining(one.preparedBy(1, 1), SECOND, 1000)).isEqualTo(480);
    }

    @Test
    void shouldWaitLongIfItHadNotCommittedTheTermBefore() {
        final CommitWait wait =
                new CommitWait(at(1000), null, Set.of()).preparedBy(1, 1).preparedBy(2, 1);
        assertThat(remaining(wait, SECOND, 1000)).isEqualTo(960);
    }

    @Test
    void shouldWaitLongForAMemberThatItExcludes() {
        final CommitWait wait =
                new CommitWait(at(1000), FIRST, Set.of()).preparedBy(1, 1).preparedBy(2, 1);
        assertThat(remaining(wait, SECOND, 1480)).isZero();
        assertThat(remaining(wait, SECOND.excluding(Set.of(1)), 1480)).isEqualTo(480);
    }

    @Test
    void shouldWaitForItsOwnLastGrantToAnExcludedMember() {
        final CommitWait wait = new CommitWait(at(-5000), null, Set.of());
        final SlotReadings answered =
                SlotReadings.NONE.noting(1, at(1000)).noting(2, at(1100)).noting(1, at(900));
        assertThat(wait.remainingNs(FIRST, answered, at(1100), TIMES)).isZero();
        assertThat(wait.remainingNs(FIRST.excluding(Set.of(1)), answered, at(1100), TIMES))
                .isEqualTo(380);
        assertThat(wait.remainingNs(FIRST.excluding(Set.of(1, 2)), answered, at(1100), TIMES))
                .isEqualTo(480);
        assertThat(wait.remainingNs(FIRST.excluding(Set.of(1)), answered, at(1480), TIMES))
                .isZero();
    }

    @Test
    void shouldCountTheSilenceBeforeTheElection() {
        final Authority voter = new Authority(TIMES, Voter.started(2, 1, 1, FIRST, at(0)), 1, null, null);
        final StoreVersions versions = new StoreVersions(5, 9);
        final Authority read = voter.read(FIRST, versions, at(100)).read(FIRST, versions, at(900));
        final Authority elected = read.standing(Set.of(0), at(1000)).elected();
        assertThat(elected.managing().commitWait().since()).isEqualTo(at(100));
        assertThat(elected.managing().commitRemainingNs(at(1000), TIMES)).isEqualTo(60);
    }

    /** It has prepared its own term: the third server is all that it must hear of. */
    @Test
    void shouldWaitForOneLeaseWhenTheOthersHavePrepared() {
        final Authority voter = new Authority(TIMES, Voter.started(2, 1, 1, FIRST, at(0)), 1, null, null);
        final Authority elected = voter.read(FIRST, new StoreVersions(5, 9), at(100))
                .standing(Set.of(0), at(400))
                .elected();
        assertThat(elected.managing().commitRemainingNs(at(500), TIMES)).isEqualTo(560);
        assertThat(elected.managing().preparedBy(1, 1).commitRemainingNs(at(500), TIMES))
                .isEqualTo(80);
    }

    @Test
    void shouldCountAnewFromAVoteOrAConfirmation() {
        final Authority voter = new Authority(TIMES, Voter.started(2, 1, 1, FIRST, at(0)), 1, null, null);
        final Authority read =
                voter.read(FIRST, new StoreVersions(5, 9), at(100)).read(FIRST, new StoreVersions(5, 10), at(900));
        assertThat(read.candidacy().readAt()).isEqualTo(at(900));
        final Authority confirmed = read.confirmed(new ConfirmationRequest(1, 2, 1, at(0)), at(950));
        assertThat(confirmed
                        .standing(Set.of(0), at(1000))
                        .elected()
                        .managing()
                        .commitWait()
                        .since())
                .isEqualTo(at(950));
    }
}
