package org.rowankv.server.authority;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AuthorityTest {
    private static final LeaseTimes TIMES = new LeaseTimes(400, 80);
    private static final Electorate FIRST = new Electorate(1, 0, List.of(1L, 1L, 1L), List.of(0, 1, 2));

    private static ClockReading at(long ns) {
        return new ClockReading(ns, 0);
    }

    private static Authority server(int slot) {
        final ManagerTerm manager = slot != 0
                ? null
                : new ManagerTerm(FIRST, null, null, Votes.NONE, Grants.NONE, new CommitWait(at(0), null, Set.of()));
        return new Authority(TIMES, Voter.started(slot, 1, 1, FIRST, at(0)), 1, null, manager);
    }

    private static Authority elected(int slot) {
        return server(slot)
                .read(FIRST, new StoreVersions(1, 0), at(100))
                .standing(Set.of(0), at(110))
                .elected();
    }

    @Test
    void shouldAnswerReadsWhileItsLeaseHolds() {
        final Authority server = server(1);
        assertThat(server.mayAnswer(at(101))).isFalse();
        final LeaseGrant grant = new LeaseGrant(1, server.request(at(100)));
        final Authority leased = server.granted(grant, at(150));
        assertThat(leased.mayAnswer(at(499))).isTrue();
        assertThat(leased.mayAnswer(at(500))).isFalse();
        assertThat(server.granted(new LeaseGrant(2, server.request(at(100))), at(150)))
                .isEqualTo(server);
    }

    @Test
    void shouldAnswerReadsAsTheManagerWhileItIsConfirmed() {
        final Authority manager = server(0);
        assertThat(manager.mayAnswer(at(101))).isFalse();
        final Authority confirmed = manager.with(manager.managing().storeAnswered(1, true, at(100), at(150)));
        assertThat(confirmed.mayAnswer(at(499))).isTrue();
        assertThat(confirmed.mayAnswer(at(500))).isFalse();
    }

    @Test
    void shouldEndAsTheManagerWhenItPromisesAnotherTerm() {
        final Electorate second = FIRST.succeeded(1, 1, Set.of());
        assertThat(server(0).preparing(second).manager()).isNull();
        assertThat(server(0)
                        .confirmed(new ConfirmationRequest(2, 0, 1, at(0)), at(10))
                        .manager())
                .isNull();
        assertThat(server(0)
                        .confirmed(new ConfirmationRequest(1, 0, 1, at(0)), at(10))
                        .manager())
                .isNotNull();
        assertThat(server(0).superseded().manager()).isNull();
        assertThatThrownBy(() -> server(1).managing()).hasMessageContaining("server 1 is not the manager");
    }

    @Test
    void shouldManageTheTermThatItWasElectedFor() {
        final Authority elected = elected(1);
        assertThat(elected.managing().stored()).isEqualTo(FIRST.succeeded(1, 1, Set.of(0)));
        assertThat(elected.voter().preparedTerm()).isEqualTo(2);
        assertThat(elected.candidacy()).isNull();
        // Its write is a vote of the store, from its sending.
        assertThat(elected.managing().isConfirmed(at(509), TIMES)).isTrue();
        assertThat(elected.managing().isConfirmed(at(510), TIMES)).isFalse();
    }

    @Test
    void shouldNotManageIfItPromisedALaterTermMeanwhile() {
        final Authority standing =
                server(1).read(FIRST, new StoreVersions(1, 0), at(100)).standing(Set.of(0), at(110));
        final Authority late = standing.confirmed(new ConfirmationRequest(3, 1, 1, at(0)), at(120))
                .elected();
        assertThat(late.manager()).isNull();
        assertThat(late.candidacy()).isNull();
    }

    @Test
    void shouldStandOnceForEachRead() {
        final Authority standing =
                server(1).read(FIRST, new StoreVersions(1, 0), at(100)).standing(Set.of(0), at(110));
        assertThat(standing.mayStand()).isFalse();
        assertThat(standing.read(FIRST, new StoreVersions(1, 1), at(120))).isEqualTo(standing);
        assertThatThrownBy(() -> standing.standing(Set.of(), at(130))).hasMessageContaining("may not stand");
        assertThatThrownBy(() -> server(1).standing(Set.of(), at(130))).hasMessageContaining("may not stand");
        assertThatThrownBy(() -> server(1).elected()).hasMessageContaining("did not stand");
        final Authority failed = standing.notElected();
        assertThat(failed.voter().promise()).isEqualTo(2);
        assertThat(failed.read(FIRST, new StoreVersions(1, 1), at(140)).mayStand())
                .isTrue();
    }

    @Test
    void shouldNotStandAgainstItselfNorBelowItsPromise() {
        assertThat(server(0).read(FIRST, new StoreVersions(1, 0), at(100)).candidacy())
                .isNull();
        final Authority promised = server(1)
                .confirmed(new ConfirmationRequest(3, 1, 1, at(0)), at(10))
                .read(FIRST, new StoreVersions(1, 0), at(100));
        assertThat(promised.mayStand()).isFalse();
    }

    @Test
    void shouldPrepareItsOwnConfigurationOnlyWhenItsOutcomeIsKnown() {
        final Electorate next = FIRST.excluding(Set.of(2));
        assertThat(server(0).mayPrepare(next)).isFalse();
        assertThat(server(1).mayPrepare(next)).isTrue();
        assertThat(server(2).mayPrepare(next)).isFalse();
        final Authority manager = server(0);
        final Authority written =
                manager.with(manager.managing().proposing(next, at(50))).written();
        assertThat(written.voter().preparedTerm()).isEqualTo(2);
        assertThat(written.managing().pending()).isNull();
    }

    @Test
    void shouldCommitOnlyWhatItHasPrepared() {
        final Authority server = server(1);
        assertThat(server.committing(2)).isEqualTo(server);
        final Authority prepared = server.preparing(FIRST.succeeded(2, 1, Set.of(0)));
        assertThat(prepared.committing(2).committed()).isEqualTo(2);
        assertThat(prepared.committing(1)).isEqualTo(prepared);
        final Authority promised = prepared.confirmed(new ConfirmationRequest(3, 1, 1, at(0)), at(1));
        assertThat(promised.committing(2)).isEqualTo(promised);
    }
}
