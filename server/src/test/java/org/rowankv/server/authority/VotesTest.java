package org.rowankv.server.authority;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class VotesTest {
    private static final LeaseTimes TIMES = new LeaseTimes(400, 80);
    private static final Electorate THREE = new Electorate(1, 0, List.of(1L, 1L, 1L), List.of(0, 1, 2));

    private static ClockReading at(long ns) {
        return new ClockReading(ns, 0);
    }

    private static ConfirmationRequest question(int slot, long sentAt) {
        return new ConfirmationRequest(1, slot, 1, at(sentAt));
    }

    private static ManagerTerm manager() {
        return new ManagerTerm(THREE, null, null, Votes.NONE, Grants.NONE, new CommitWait(at(-10_000), null, Set.of()));
    }

    @Test
    void shouldBeConfirmedByTheStoreAlone() {
        final Votes votes = Votes.NONE.storeAnswered(true, at(100), at(120));
        assertThat(votes.confirmedFrom(THREE, 0, false, at(130))).isEqualTo(at(100));
        assertThat(votes.confirmedFrom(THREE, 0, true, at(130))).isEqualTo(at(100));
    }

    @Test
    void shouldBeConfirmedByAllMembersAndNotByMost() {
        final Votes one = Votes.NONE.confirmedBy(question(1, 100), at(120));
        assertThat(one.confirmedFrom(THREE, 0, false, at(130))).isNull();
        final Votes all = one.confirmedBy(question(2, 110), at(125));
        assertThat(all.confirmedFrom(THREE, 0, false, at(130))).isEqualTo(at(100));
    }

    @Test
    void shouldCountTheLaterQuorum() {
        final Votes votes = Votes.NONE
                .confirmedBy(question(1, 100), at(120))
                .confirmedBy(question(2, 110), at(120))
                .storeAnswered(true, at(90), at(125));
        assertThat(votes.confirmedFrom(THREE, 0, false, at(130))).isEqualTo(at(100));
        assertThat(votes.storeAnswered(true, at(105), at(126)).confirmedFrom(THREE, 0, false, at(130)))
                .isEqualTo(at(105));
    }

    @Test
    void shouldCountNoMemberQuorumWhileAWriteIsPending() {
        final Votes votes = Votes.NONE.confirmedBy(question(1, 100), at(120)).confirmedBy(question(2, 110), at(120));
        assertThat(votes.confirmedFrom(THREE, 0, true, at(130))).isNull();
    }

    @Test
    void shouldNotCountRefusalsNorAnswersFromTheFuture() {
        assertThat(Votes.NONE.storeAnswered(false, at(100), at(120))).isEqualTo(Votes.NONE);
        assertThat(Votes.NONE.storeAnswered(true, at(130), at(120))).isEqualTo(Votes.NONE);
        assertThat(Votes.NONE.confirmedBy(question(1, 130), at(120))).isEqualTo(Votes.NONE);
    }

    @Test
    void shouldLetASoleMemberConfirmItself() {
        final Electorate sole = new Electorate(1, 0, List.of(1L), List.of(0));
        assertThat(Votes.NONE.confirmedFrom(sole, 0, false, at(130))).isEqualTo(at(130));
        assertThat(Votes.NONE.confirmedFrom(sole, 0, true, at(130))).isNull();
    }

    @Test
    void shouldCountNothingOfAnEarlierTerm() {
        final ManagerTerm next = manager()
                .storeAnswered(1, true, at(100), at(110))
                .proposing(THREE.excluding(Set.of(2)), at(120))
                .written();
        assertThat(next.stored().term()).isEqualTo(2);
        // The write itself is a vote of the store.
        assertThat(next.isConfirmed(at(519), TIMES)).isTrue();
        assertThat(next.isConfirmed(at(520), TIMES)).isFalse();
        assertThat(next.storeAnswered(1, true, at(500), at(510))).isEqualTo(next);
        assertThat(next.confirmedBy(question(1, 500), at(510))).isEqualTo(next);
    }

    @Test
    void shouldSendNoSecondWriteBeforeTheOutcomeOfTheFirst() {
        final ManagerTerm pending = manager().proposing(THREE.excluding(Set.of(2)), at(120));
        assertThatThrownBy(() -> pending.proposing(THREE.excluding(Set.of(1)), at(130)))
                .hasMessageContaining("read it first");
        assertThatThrownBy(() -> manager().written()).hasMessageContaining("nothing was sent");
    }

    @Test
    void shouldGrantOnlyWhatArrivedBeforeItWasConfirmed() {
        final Grants grants = Grants.NONE
                .receive(new LeaseRequest(1, 1, at(7)), at(100))
                .receive(new LeaseRequest(2, 1, at(8)), at(102));
        final Grants.Checked checked = grants.grant(THREE, at(101));
        assertThat(checked.grants()).containsExactly(new LeaseGrant(1, new LeaseRequest(1, 1, at(7))));
        assertThat(checked.next().answered()).isEqualTo(SlotReadings.NONE.noting(1, at(101)));
        assertThat(checked.next().grant(THREE, at(102)).grants()).hasSize(1);
    }

    @Test
    void shouldGrantToPresentMembersOnly() {
        final Grants grants = Grants.NONE
                .receive(new LeaseRequest(0, 1, at(7)), at(100))
                .receive(new LeaseRequest(1, 2, at(7)), at(100))
                .receive(new LeaseRequest(2, 1, at(7)), at(100))
                .receive(new LeaseRequest(3, 1, at(7)), at(100));
        final Grants.Checked checked = grants.grant(THREE, at(101));
        assertThat(checked.grants()).extracting(each -> each.request().slot()).containsExactly(2);
        assertThat(checked.next().received()).isEmpty();
    }

    @Test
    void shouldAnswerTheLatestRequestOfEachServer() {
        final Grants grants = Grants.NONE
                .receive(new LeaseRequest(1, 1, at(7)), at(100))
                .receive(new LeaseRequest(1, 1, at(9)), at(100));
        assertThat(grants.grant(THREE, at(100)).grants())
                .extracting(each -> each.request().sentAt())
                .containsExactly(at(9));
    }
}
