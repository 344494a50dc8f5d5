package org.rowankv.server.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.runtime.concurrent.LatencyHistogram;
import org.rowankv.server.authority.CommitWait;
import org.rowankv.server.authority.Electorate;
import org.rowankv.server.authority.Grants;
import org.rowankv.server.authority.LeaseTimes;
import org.rowankv.server.authority.ManagerTerm;
import org.rowankv.server.authority.Votes;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/** Server 0 is the manager and the primary, server 1 its backup, and server 2 is excluded. */
@Tag("mocked")
final class ConfigurationManagerTest {
    private static final long LEASE_NS = 400_000_000;
    private static final Configuration OWN = new Configuration(
            5, 6, 9, List.of(1L, 1L, 1L), List.of(new ShardAssignment(4, 0, new int[] {1})), 9, 0, Set.of(2));

    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private final ClusterNodes nodes =
            new ClusterNodes(new MemoryConfigurationStore(), "test", new SplittableRandomSource(1));
    private final LeaseAgent leases = new LeaseAgent(
            0,
            3,
            1,
            LeaseTimes.of(LEASE_NS),
            clock,
            (to, message) -> {},
            server -> false,
            () -> {},
            new LatencyHistogram());
    /** The incarnation that server 2 has registered last. */
    private long registered = 1;

    private final Adoption adoption = mock(Adoption.class);
    private final Departures departures = new Departures();
    private final PeerCalls calls = mock(PeerCalls.class);
    private final DueChanges due = new DueChanges(() -> {});
    private final ShardReports renewals = due.renewals();
    private final ConfigurationManager manager = new ConfigurationManager(
            0,
            3,
            nodes,
            leases,
            adoption,
            step -> step.getAsBoolean(),
            due,
            server -> server == 2 ? registered : 1,
            departures,
            calls,
            () -> {},
            ThreadScheduling.INSTANCE);

    private void begin() {
        begin(OWN);
    }

    private void begin(Configuration first) {
        assertThat(nodes.decide(first, ConfigurationStore.ABSENT)).isTrue();
        when(adoption.prepared()).thenReturn(first);
        final Electorate own = Electorate.of(first);
        leases.started(
                own,
                true,
                new ManagerTerm(
                        own, null, null, Votes.NONE, Grants.NONE, new CommitWait(leases.now(), null, Set.of())));
        assertThat(manager.step()).isTrue();
    }

    /** The others are silent for that long, while this process runs. */
    private void passNs(long ns) {
        for (long leftNs = ns; leftNs > 0; leftNs -= LEASE_NS / 4) {
            clock.advanceNs(LEASE_NS / 4);
            leases.doWork();
        }
    }

    @Test
    void shouldExcludeThoseThatAreSilent() {
        begin();
        passNs(2 * LEASE_NS);
        assertThat(leases.needsStoreVote()).isTrue();
        when(adoption.prepare(OWN.excluding(Set.of(1), 0))).thenReturn(true);
        assertThat(manager.step()).isTrue();
        assertThat(nodes.configuration().configuration().members()).containsExactly(0);
        assertThat(leases.isManager()).isTrue();
    }

    /** As one does that the manager cannot hear, or that dies before its copies are complete. */
    @Test
    void shouldAddAServerAfterAGrowingPauseThatWasLostBeforeItsCopiesWereComplete() {
        begin();
        when(adoption.prepare(any())).thenReturn(true);
        long pauseNs = 0;
        for (int round = 0; round < 9; round++) {
            registered++;
            if (pauseNs > 0) {
                settle();
                passHeardNs(pauseNs - LEASE_NS);
                manager.step();
                assertThat(members()).as("round %d, pause %d", round, pauseNs).containsExactly(0, 1);
                assertThat(manager.saying())
                        .contains("server 2")
                        .contains("after a pause of " + pauseNs / 1_000_000_000);
                passHeardNs(LEASE_NS);
            }
            manager.step();
            assertThat(members()).as("round %d", round).containsExactly(0, 1, 2);
            passHeardNs(4_000_000_000L);
            manager.step();
            assertThat(members()).containsExactly(0, 1);
            pauseNs = Math.min(Math.max(ReturnPauses.FIRST_NS, 2 * pauseNs), ReturnPauses.LONGEST_NS);
        }
        assertThat(pauseNs).isEqualTo(ReturnPauses.LONGEST_NS);
    }

    /** Of the shards that the reporting process is the primary of, in the epoch that it knows. */
    @Test
    void shouldRenewTheEpochsThatComeToTheirEnd() {
        begin();
        when(adoption.prepare(any())).thenReturn(true);
        final int shard = 0;
        final ShardAssignment before = OWN.shard(shard);
        final int primary = before.primary();
        final int backup = before.backups()[0];
        final long incarnation = OWN.incarnations().get(primary);
        renewals.report(backup, OWN.incarnations().get(backup), Map.of(shard, before.epoch()));
        renewals.report(primary, incarnation + 1, Map.of(shard, before.epoch()));
        manager.step();
        assertThat(nodes.configuration().configuration()).isEqualTo(OWN);

        renewals.report(primary, incarnation, Map.of(shard, before.epoch(), 77, 1, -1, 1));
        manager.step();
        final Configuration renewed = nodes.configuration().configuration();
        assertThat(renewed.term()).isEqualTo(OWN.term() + 1);
        assertThat(renewed.shard(shard)).isEqualTo(before.withEpoch(before.epoch() + 1));
        assertThat(renewed.manager()).isEqualTo(OWN.manager());
        assertThat(renewed.startTerm()).isEqualTo(OWN.startTerm());

        assertThat(renewals.in(renewed)).as("once").isEmpty();
    }

    @Test
    void shouldAddAServerAtOnceWhoseCopiesWereComplete() {
        final ReturnPauses pauses = new ReturnPauses();
        final Configuration complete = configuration(Set.of(), Set.of());
        pauses.follow(configuration(Set.of(), Set.of(2)), configuration(Set.of(2), Set.of()), departures, 0);
        assertThat(pauses.whyNot(2, 0)).isNotNull();
        pauses.follow(complete, configuration(Set.of(2), Set.of()), departures, 0);
        assertThat(pauses.whyNot(2, 0)).isNull();
    }

    @Test
    void shouldAddAServerAtOnceWhoseRolesOthersHadTakenOver() {
        final Configuration without = new Configuration(
                5, 6, 9, List.of(1L, 1L, 1L), List.of(new ShardAssignment(4, 0, new int[] {1})), 9, 0, Set.of());
        departures.ask(2, 1, without.term(), 0);
        assertThat(departures.next(without, 2, Departures.GATHER_NS)).isNull();
        final ReturnPauses pauses = new ReturnPauses();
        pauses.follow(without, without.excluding(Set.of(2), 0), departures, 0);
        assertThat(pauses.whyNot(2, 0)).isNull();
    }

    /** The other shard lacks one too. That waits: the server is about to be back. */
    @Test
    void shouldCopyAtOnceWhatWouldBeLostWithAServerThatStops() {
        final Configuration present = new Configuration(
                5,
                6,
                9,
                List.of(1L, 1L, 1L),
                List.of(new ShardAssignment(4, 1, new int[0]), new ShardAssignment(4, 0, new int[] {1})),
                9,
                0,
                Set.of());
        when(adoption.prepare(any())).thenReturn(true);
        departures.ask(1, 1, 0, leases.now().monotonicNs());
        begin(present);
        manager.step();
        final Configuration next = nodes.configuration().configuration();
        assertThat(next.shard(0).joining()).containsExactlyInAnyOrder(0, 2);
        assertThat(next.shard(1)).isEqualTo(present.shard(1));
    }

    /** Its successor would have to go on with it. */
    @Test
    void shouldKeepATransferThatIsAskedForUntilItsRolesAreInForce() {
        begin();
        when(adoption.prepare(any())).thenReturn(true);
        assertThat(nodes.askFor(0, 1)).isTrue();
        assertThat(nodes.askFor(0, 1)).isFalse();
        manager.readRequests();
        assertThat(manager.step()).isTrue();
        assertThat(nodes.configuration().configuration()).isEqualTo(OWN.handedOver(Map.of(0, 1)));
        manager.readRequests();
        assertThat(nodes.transfers()).hasSize(1);
    }

    @Test
    void shouldRemoveATransferThatIsAskedForWhenItsRolesAreInForce() {
        assertThat(nodes.askFor(0, 1)).isTrue();
        begin(OWN.handedOver(Map.of(0, 1)));
        manager.readRequests();
        assertThat(manager.step()).isFalse();
        assertThat(nodes.transfer(0)).isNull();
    }

    @Test
    void shouldRefuseATransferToAServerWithoutACompleteReplica() {
        begin();
        assertThat(nodes.askFor(0, 2)).isTrue();
        manager.readRequests();
        assertThat(manager.step()).isFalse();
        assertThat(nodes.configuration().configuration()).isEqualTo(OWN);
        assertThat(nodes.transfers()).isEmpty();
        assertThat(nodes.transfer(0).refusal()).contains("server 2");
        assertThat(nodes.askFor(0, 1)).isTrue();
    }

    /** It reads of its successor when it votes, and would propose to add a server that has returned. */
    @Test
    void shouldProposeNothingOnceItIsSuperseded() {
        begin();
        registered = 2;
        final Configuration next = OWN.superseded();
        assertThat(nodes.decide(next, nodes.configuration().version())).isTrue();
        passNs(LEASE_NS);
        assertThat(leases.needsStoreVote()).isTrue();
        assertThat(manager.step()).isFalse();
        assertThat(leases.isManager()).isFalse();
        assertThat(nodes.configuration().configuration()).isEqualTo(next);
        assertThat(manager.step()).isFalse();
    }

    /** A failed candidate can neither prepare that term nor take a lease of it, and it asks for one all the time. */
    @Test
    void shouldBeginANewTermForAMemberThatHasPromisedItWhileItWaitsForTheMember() {
        begin();
        registered = 2;
        when(adoption.prepare(any())).thenReturn(true);
        assertThat(manager.step()).isTrue();
        final Configuration unsettled = nodes.configuration().configuration();
        assertThat(unsettled.members()).containsExactly(0, 1, 2);

        final PeerCalls.Call call = mock(PeerCalls.Call.class);
        when(calls.begin(anyInt(), anyInt(), anyInt(), anyLong(), any())).thenReturn(call);
        when(call.awaitWhile(any(), any())).thenAnswer(asked -> {
            requestLease(1, OWN.term(), unsettled.term() + 1);
            assertThat(asked.<BooleanSupplier>getArgument(0).getAsBoolean())
                    .as("it waits for the member")
                    .isFalse();
            return null;
        });
        assertThat(manager.step()).isFalse();
        assertThat(manager.step()).isTrue();
        final Configuration next = nodes.configuration().configuration();
        assertThat(next).isEqualTo(unsettled.succeeded(0));
        assertThat(leases.isOutbid()).isFalse();
    }

    /** Also while a member is away that cannot be spared: nothing else gives the candidate a lease. */
    @Test
    void shouldBeginANewTermForACandidateAlthoughAMemberCannotBeSpared() {
        final Configuration own = new Configuration(
                5,
                6,
                9,
                List.of(1L, 1L, 2L),
                List.of(new ShardAssignment(4, 0, new int[] {1}), new ShardAssignment(4, 2, new int[] {})),
                9,
                0,
                Set.of());
        begin(own);
        when(adoption.prepare(any())).thenReturn(true);
        for (long passedNs = 0; passedNs <= 2 * LEASE_NS; passedNs += LEASE_NS / 4) {
            requestLease(1, own.term(), own.term() + 1);
            passNs(LEASE_NS / 4);
        }
        assertThat(leases.silent(LEASE_NS)).containsExactly(2);
        assertThat(manager.step()).isTrue();
        assertThat(nodes.configuration().configuration()).isEqualTo(own.succeeded(0));
    }

    /** Server 1 is heard for that long, and has not prepared the present term: it confirms nothing. */
    private void passHeardNs(long ns) {
        for (long leftNs = ns; leftNs > 0; leftNs -= LEASE_NS / 4) {
            clock.advanceNs(LEASE_NS / 4);
            requestLease(1, OWN.term() - 1, 0);
            leases.doWork();
        }
    }

    /** All members prepare and commit. */
    private void settle() {
        final PeerCalls.Call call = mock(PeerCalls.Call.class);
        when(call.awaitWhile(any(), any())).thenReturn(ByteBuffer.allocate(0));
        when(call.server()).thenReturn(1);
        when(calls.begin(anyInt(), anyInt(), anyInt(), anyLong(), any())).thenReturn(call);
        when(adoption.commit(anyLong())).thenReturn(true);
        manager.step();
    }

    private List<Integer> members() {
        return nodes.configuration().configuration().members();
    }

    private static Configuration configuration(Set<Integer> excluded, Set<Integer> joining) {
        final int[] backups = excluded.isEmpty() ? new int[] {1, 2} : new int[] {1};
        return new Configuration(
                5, 6, 9, List.of(1L, 1L, 1L), List.of(new ShardAssignment(4, 0, backups, joining)), 9, 0, excluded);
    }

    private void requestLease(int from, long term, long promise) {
        final ByteBuffer payload = ByteBuffer.allocate(2 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        payload.putLong(clock.wallMs()).putLong(promise).flip();
        leases.onMessage(
                from,
                from == 2 ? 2 : 1,
                PeerMessageDescriptor.write(PeerRequestType.LEASE, false, 0, term, 0, clock.nanoTime(), payload));
    }
}
