package org.rowankv.server.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.runtime.concurrent.LatencyHistogram;
import org.rowankv.server.area.Area;
import org.rowankv.server.authority.Electorate;
import org.rowankv.server.authority.LeaseTimes;
import org.rowankv.server.authority.StoreVersions;
import org.rowankv.server.engine.Server;
import org.rowankv.topology.Configuration;

/** Server 1 follows the manager, server 0. */
@Tag("mocked")
final class AdoptionTest {
    private static final int SELF = 1;
    private static final Configuration FIRST = managed(1);
    private static final Configuration NEXT = managed(2);

    private final ManualClock clock = new ManualClock();
    private final LeaseAgent leases = new LeaseAgent(
            SELF,
            3,
            1,
            LeaseTimes.of(400_000_000),
            clock,
            (to, message) -> {},
            server -> false,
            () -> {},
            new LatencyHistogram());
    private final Server server = mock(Server.class, RETURNS_DEEP_STUBS);
    private Runnable whilePreparing = () -> {};
    private final Adoption adoption = new Adoption(
            SELF,
            1,
            mock(Area.class, RETURNS_DEEP_STUBS),
            server,
            ThreadScheduling.INSTANCE,
            leases,
            FIRST,
            view -> whilePreparing.run(),
            routing -> {});

    private static Configuration managed(long term) {
        final Configuration plain = Configuration.initial(1, 1, 3, 2, 3, List.of(1L, 1L, 1L));
        return new Configuration(1, 1, term, plain.incarnations(), plain.shards(), 1, 0, Set.of());
    }

    @BeforeEach
    void start() {
        leases.started(Electorate.of(FIRST), true, null);
        when(server.joining().join(any())).thenReturn(true);
    }

    @Test
    void shouldAnswerWhenItIsAskedAgain() {
        assertThat(adoption.prepare(NEXT)).isTrue();
        assertThat(adoption.prepare(NEXT)).isTrue();
        assertThat(adoption.prepare(FIRST)).isFalse();
        assertThat(adoption.commit(NEXT.term())).isTrue();
    }

    /** It stands for a later term while it prepares: the promise forbids this one, however often it is asked. */
    @Test
    void shouldNotSayThatItHasPreparedWhatItsPromiseForbids() {
        whilePreparing = () -> leases.change(now -> now.read(Electorate.of(NEXT), new StoreVersions(1, 1), leases.now())
                .standing(Set.of(), leases.now()));
        assertThat(adoption.prepare(NEXT)).isFalse();
        assertThat(adoption.prepare(NEXT)).isFalse();
        assertThat(adoption.commit(NEXT.term())).isFalse();
    }
}
