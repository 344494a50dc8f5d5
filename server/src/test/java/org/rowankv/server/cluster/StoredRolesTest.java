package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.Fabric;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.area.Area;
import org.rowankv.server.checkpoint.CheckpointStore;
import org.rowankv.server.configstore.ConfigurationCodec;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.directory.ServerDirectory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.InitialPlacement;
import org.rowankv.server.membership.Members;
import org.rowankv.server.membership.ServerAddresses;
import org.rowankv.server.membership.ServerRegistration;
import org.rowankv.topology.Configuration;
import org.slf4j.LoggerFactory;

/** Server 0 decides a common start with server 1, in its second incarnation, as soon as both are registered. */
@Tag("mocked")
final class StoredRolesTest {
    private static final ClusterShape SHAPE = new ClusterShape(3, 2, 12, 64 << 10, 16 << 10, Durability.PROCESS);
    private static final Members MEMBERS =
            new Members(1, 2, SHAPE, List.of("a", "b", "c"), List.of(1L, 2L, 3L), List.of("", "", ""));
    private static final int AWAY = 2;

    private final AwayStore store = new AwayStore();
    private final ClusterNodes nodes = new ClusterNodes(store, "test", new SplittableRandomSource(1));
    private final ManualClock clock = new ManualClock();
    private final ClusterSettings settings = ClusterSettings.of(with -> {
        with.cluster = "test";
        with.name = "a";
        with.dir = Path.of("a");
        with.advertised = new HostAndPort("127.0.0.1", 1);
        with.shape = SHAPE;
        with.capacityBytes = 8 << 20;
        with.workers = 4;
        with.startWaitMs = 1_000;
    });
    private final StoredRoles roles = new StoredRoles(
            settings,
            new ClusterContext(
                    store,
                    mock(Fabric.class),
                    new ServerAddresses(),
                    clock,
                    new SplittableRandomSource(2),
                    ThreadScheduling.INSTANCE,
                    new ErrorLog(clock),
                    1,
                    mock(ClientEndpoint.class),
                    ServerDirectory::open,
                    number -> mock(CheckpointStore.class),
                    unused -> {}),
            nodes,
            new WaitLog(LoggerFactory.getLogger(StoredRolesTest.class), "a", clock),
            MEMBERS,
            1);
    private final Area area = mock(Area.class, RETURNS_DEEP_STUBS);
    private final RoleTerm own = mock(RoleTerm.class);

    @BeforeEach
    void register() {
        final Configuration former = InitialPlacement.of(MEMBERS)
                .restarted(List.of(1L, 1L, 1L), Set.of(), 2)
                .managedBy(0);
        assertThat(nodes.decide(former, ConfigurationStore.ABSENT)).isTrue();
        nodes.announce(new ServerRegistration("b", 2, new HostAndPort("127.0.0.1", 2), "", "", "", SHAPE, 2, 7));
        when(area.superblock().term()).thenReturn(1L);
        when(area.superblock().incarnation()).thenReturn(2L);
        when(own.incarnation()).thenReturn(2L);
        when(own.nonce()).thenReturn(5L);
        when(own.beganWaitingNs()).thenReturn(clock.nanoTime());
    }

    @Test
    void shouldWaitForLeasesOfAServerThatItStartsWithout() {
        assertThat(roles.find(area, own)).isNull();
        verify(own, never()).startWithout(any());
        clock.advanceMs(1_000);
        assertThat(roles.find(area, own)).isNotNull();
        verify(own).startWithout(Set.of(AWAY));
    }

    /** The former process of that server may run still, cut off from here and from the store, with a lease. */
    @Test
    void shouldWaitForThemThoughItLearnsOnlyByReadingThatItHasDecided() {
        clock.advanceMs(1_000);
        store.losesAnswerOf = ConfigurationCodec.PATH;
        assertThatThrownBy(() -> roles.find(area, own)).isInstanceOf(ConfigurationStoreException.class);
        store.away = false;
        final Configuration found = roles.find(area, own);
        assertThat(found).isNotNull();
        assertThat(found.members()).containsExactly(0, 1);
        verify(own).startWithout(Set.of(AWAY));
    }

    @Test
    void shouldNotWaitWhenAllStart() {
        nodes.announce(new ServerRegistration("c", 3, new HostAndPort("127.0.0.1", 3), "", "", "", SHAPE, 2, 8));
        assertThat(roles.find(area, own)).isNotNull();
        verify(own, never()).startWithout(any());
    }
}
