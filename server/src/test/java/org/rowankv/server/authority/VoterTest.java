package org.rowankv.server.authority;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class VoterTest {
    private static final LeaseTimes TIMES = new LeaseTimes(400, 80);
    private static final ClockReading START = at(0);
    private static final Electorate FIRST = new Electorate(1, 0, List.of(1L, 1L, 1L), List.of(0, 1, 2));

    private static ClockReading at(long ns) {
        return new ClockReading(ns, 0);
    }

    private static Voter voter(int slot) {
        return Voter.started(slot, 1, 1, FIRST, START);
    }

    private static ConfirmationRequest question(long term, int slot, long incarnation) {
        return new ConfirmationRequest(term, slot, incarnation, at(5));
    }

    @Test
    void shouldConfirmNoLowerTermThanItPromised() {
        final Voter voter = voter(1).confirmed(question(3, 1, 1), at(7));
        assertThat(voter.promise()).isEqualTo(3);
        assertThat(voter.lastConfirmation()).isEqualTo(at(7));
        assertThat(voter.confirms(question(2, 1, 1))).isFalse();
        assertThat(voter.confirms(question(3, 1, 1))).isTrue();
        assertThat(voter.mayPrepare(FIRST)).isFalse();
    }

    @Test
    void shouldConfirmOnlyForItsOwnIncarnation() {
        final Voter restarted = Voter.started(1, 2, 1, FIRST, START);
        assertThat(restarted.confirms(question(1, 1, 1))).isFalse();
        assertThat(restarted.confirms(question(1, 1, 2))).isTrue();
        assertThat(restarted.confirms(question(1, 2, 2))).isFalse();
    }

    @Test
    void shouldConfirmNoFormerManagerOnceItStands() {
        final Voter standing = voter(1).standing(2);
        assertThat(standing.promise()).isEqualTo(2);
        assertThat(standing.confirms(question(1, 1, 1))).isFalse();
    }

    @Test
    void shouldGiveUpItsLeaseWhenItStands() {
        final LeaseGrant grant = new LeaseGrant(1, new LeaseRequest(1, 1, at(10)));
        final Voter leased = voter(1).granted(grant);
        assertThat(leased.lease()).isEqualTo(new Lease(at(10)));
        assertThat(leased.standing(2).lease()).isNull();
        assertThat(leased.standing(2).accepts(grant, at(11), TIMES)).isFalse();
    }

    @Test
    void shouldKeepTheLaterOfTwoLeases() {
        final Voter leased = voter(1).granted(new LeaseGrant(1, new LeaseRequest(1, 1, at(20))))
                .granted(new LeaseGrant(1, new LeaseRequest(1, 1, at(10))));
        assertThat(leased.lease()).isEqualTo(new Lease(at(20)));
    }

    @Test
    void shouldTakeGrantsOnlyOfTheTermThatItPrepared() {
        final LeaseRequest request = new LeaseRequest(1, 1, at(10));
        final Voter voter = voter(1);
        assertThat(voter.accepts(new LeaseGrant(1, request), at(11), TIMES)).isTrue();
        assertThat(voter.accepts(new LeaseGrant(2, request), at(11), TIMES)).isFalse();
        assertThat(voter.accepts(new LeaseGrant(1, request), at(410), TIMES)).isFalse();
        assertThat(voter.accepts(new LeaseGrant(1, new LeaseRequest(1, 2, at(10))), at(11), TIMES))
                .isFalse();
        assertThat(voter.accepts(new LeaseGrant(1, new LeaseRequest(2, 1, at(10))), at(11), TIMES))
                .isFalse();
        final Voter promised = voter.confirmed(question(2, 1, 1), at(11));
        assertThat(promised.accepts(new LeaseGrant(1, request), at(12), TIMES)).isFalse();
    }

    @Test
    void shouldStandOnlyAfterItPreparedItsMembership() {
        final Electorate withJoiner = FIRST.adding(3, 1);
        final Voter joiner = Voter.started(3, 1, 0, null, START);
        assertThat(joiner.mayStand(withJoiner)).isFalse();
        assertThat(joiner.preparing(withJoiner).mayStand(withJoiner)).isTrue();
        assertThat(joiner.preparing(withJoiner).mayStand(withJoiner.excluding(Set.of(3))))
                .isFalse();
    }

    @Test
    void shouldStandAsTheProcessAfterTheOneThatPrepared() {
        final Voter restarted = Voter.started(1, 2, 1, FIRST, START);
        assertThat(restarted.mayStand(FIRST)).isTrue();
        assertThat(restarted.mayStand(FIRST.excluding(Set.of(1)).adding(1, 2))).isFalse();
    }

    @Test
    void shouldAdmitOnlyWhatItsConfigurationNames() {
        final Voter fencing = voter(1).preparing(FIRST.succeeded(1, 1, Set.of(0, 2)));
        assertThat(fencing.admits(1, 1)).isTrue();
        assertThat(fencing.admits(0, 1)).isFalse();
        assertThat(voter(1).admits(0, 2)).isFalse();
        assertThat(Voter.started(3, 1, 0, null, START).admits(0, 1)).isFalse();
    }

    @Test
    void shouldNeverMakeAnExcludedProcessAMemberAgain() {
        final Electorate without = FIRST.excluding(Set.of(2));
        assertThat(without.term()).isEqualTo(2);
        assertThat(without.members()).containsExactly(0, 1);
        assertThat(without.mayAdd(2, 1)).isFalse();
        assertThatThrownBy(() -> without.adding(2, 1)).hasMessageContaining("only a later one");
        assertThat(without.adding(2, 2).names(2, 2)).isTrue();
    }

    @Test
    void shouldRefuseElectoratesWithoutAManager() {
        assertThatThrownBy(() -> FIRST.excluding(Set.of(0))).hasMessageContaining("manager's slot 0");
        assertThatThrownBy(() -> FIRST.succeeded(3, 1, Set.of())).hasMessageContaining("none of the members");
        assertThatThrownBy(() -> new Electorate(0, 0, List.of(1L), List.of(0))).hasMessageContaining("begin at 1");
        assertThatThrownBy(() -> new Electorate(1, 0, List.of(1L, 0L), List.of(0, 1)))
                .hasMessageContaining("without an incarnation");
    }
}
