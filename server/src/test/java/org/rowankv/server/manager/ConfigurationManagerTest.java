package org.rowankv.server.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.List;
import java.util.Set;
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
            0, 3, 1, LeaseTimes.of(LEASE_NS), clock, (to, message) -> {}, () -> {}, new LatencyHistogram());
    /** The incarnation that server 2 has registered last. */
    private long registered = 1;

    private final Adoption adoption = mock(Adoption.class);
    private final ConfigurationManager manager = new ConfigurationManager(
            0,
            3,
            nodes,
            leases,
            adoption,
            step -> step.getAsBoolean(),
            new CompletedCopies(() -> {}),
            server -> server == 2 ? registered : 1,
            mock(PeerCalls.class),
            () -> {},
            ThreadScheduling.INSTANCE);

    private void begin() {
        assertThat(nodes.decide(OWN, ConfigurationStore.ABSENT)).isTrue();
        when(adoption.prepared()).thenReturn(OWN);
        final Electorate own = Electorate.of(OWN);
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
}
