package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.dispatch.WaitLimit;
import org.rowankv.server.engine.RoleChanges;
import org.rowankv.server.engine.Server;
import org.rowankv.server.resync.JoinAgent;
import org.rowankv.topology.Configuration;

/** What the manager of a store in one process decides, and how servers follow. */
@Tag("mocked")
final class EmbeddedConfigurationManagerTest {
    private static final int SERVERS = 2;

    private final ManualClock clock = new ManualClock(1, 1_000_000);
    private final ErrorLog errors = new ErrorLog(clock);
    private final StoreFiles files = mock(StoreFiles.class);
    private final List<Server> servers = new ArrayList<>();
    private final List<Configuration> seen = new ArrayList<>();
    private final Configuration first =
            Configuration.initial(1, 2, SERVERS, SERVERS, 4, List.of(1L, 1L)).coldStart(List.of(2L, 2L), Set.of(1));
    private Configuration stored = first;
    private @Nullable RuntimeException fails;
    private EmbeddedConfigurationManager manager;

    @BeforeEach
    void open() {
        for (int server = 0; server < SERVERS; server++) {
            final Server one = mock(Server.class);
            final JoinAgent join = mock(JoinAgent.class);
            when(join.join(any())).thenReturn(true);
            final RoleChanges roles = mock(RoleChanges.class);
            when(one.joining()).thenReturn(join);
            when(one.roleChanges()).thenReturn(roles);
            servers.add(one);
        }
        when(files.configuration()).thenAnswer(call -> stored);
        when(files.change(any())).thenAnswer(call -> {
            final Function<Configuration, @Nullable Configuration> step = call.getArgument(0);
            final Configuration next = step.apply(stored);
            if (next != null) {
                if (fails != null) {
                    throw fails;
                }
                stored = next;
            }
            return stored;
        });
        manager = new EmbeddedConfigurationManager(
                files, servers, clock, ThreadScheduling.INSTANCE, errors, fault -> new IllegalStateException(fault));
        manager.observe(seen::add);
    }

    private void complete() {
        assertThat(manager.completed(1, first.epochs(List.of(0, 1, 2, 3)))).isFalse();
        manager.doWork();
        assertThat(manager.inForce().isJoining(1)).isFalse();
    }

    @Test
    void shouldStoreThenPrepareEverywhereThenCommit() {
        complete();
        final InOrder order =
                inOrder(servers.get(0).roleChanges(), servers.get(1).roleChanges());
        servers.forEach(server -> order.verify(server.roleChanges()).prepared(stored));
        servers.forEach(server -> order.verify(server.roleChanges()).committed(stored));
        assertThat(seen).containsExactly(stored);
        assertThat(manager.joinsCompleted()).isOne();
        assertThat(manager.completed(1, first.epochs(List.of(0, 1, 2, 3))))
                .as("no more to report")
                .isTrue();
        assertThat(manager.doWork()).isZero();
    }

    /** It would run the configuration store's thread each time. */
    @Test
    void shouldDoNothingUntilSomethingIsAskedOrReported() {
        assertThat(manager.doWork()).isZero();
        verify(files, never()).change(any());
    }

    @Test
    void shouldNotMoveAPrimaryWhileItMayNot() {
        complete();
        manager.mayNotMove();
        final Transfer moving = manager.transfer(0, 1);
        assertThat(manager.renew(0, List.of(0))).isNull();
        manager.doWork();
        assertThat(stored.shard(0).epoch()).as("other changes go on").isEqualTo(3);
        manager.doWork();
        assertThat(stored.shard(0).primary()).isZero();
        manager.mayMove();
        manager.doWork();
        assertThat(stored.shard(0).primary()).isOne();
        assertThat(moving.isOver()).as("known in the next cycle only").isFalse();
        manager.doWork();
        when(servers.get(1).roleChanges().isUnopened(0)).thenReturn(true);
        assertThat(moving.isOver()).as("not open").isFalse();
        when(servers.get(1).roleChanges().isUnopened(0)).thenReturn(false);
        assertThat(moving.isOver()).isTrue();
    }

    @Test
    void shouldRefuseAServerWhoseCopyIsNotComplete() {
        final Transfer refused = manager.transfer(0, 1);
        manager.doWork();
        assertThat(refused.refusal()).isEqualTo("server 1 is no complete backup");
        assertThat(refused.isOver()).isTrue();
        assertThat(stored).isEqualTo(first);
    }

    /** The servers ask again, and hear why. */
    @Test
    void shouldTellWhyItCannotStoreAndTryAgain() {
        complete();
        fails = new IllegalStateException("no space left on device");
        assertThat(manager.renew(0, List.of(0))).isNull();
        manager.doWork();
        assertThatThrownBy(() -> manager.renew(0, List.of(0))).isSameAs(fails);
        assertThat(errors.distinct())
                .singleElement()
                .satisfies(error -> assertThat(error.message()).isEqualTo("no space left on device"));
        fails = null;
        manager.doWork();
        assertThat(stored.shard(0).epoch()).as("not at once").isEqualTo(2);
        clock.advanceNs(1_000_000_000);
        manager.doWork();
        assertThat(manager.inForce().shard(0).epoch()).isEqualTo(3);
        assertThat(manager.renew(0, List.of(2))).isNull();
    }

    /** Its outcome was not known. Nothing is decided by what servers do not follow yet. */
    @Test
    void shouldPutInForceWhatAFailedAttemptHasStored() {
        final Configuration attempted = first.completed(Map.of(1, Set.of(0)));
        stored = attempted;
        manager.transfer(0, 1);
        manager.doWork();
        assertThat(stored).isEqualTo(attempted);
        assertThat(manager.inForce()).isEqualTo(attempted);
        manager.doWork();
        assertThat(manager.inForce().shard(0).primary()).isOne();
    }

    @Test
    void shouldChangeNothingOnceAServerHasStopped() {
        when(servers.get(1).isStopped()).thenReturn(true);
        final Transfer moving = manager.transfer(0, 1);
        assertThat(manager.doWork()).isZero();
        verify(files, never()).change(any());
        manager.close();
        assertThat(moving.isOver()).isTrue();
        assertThat(moving.refusal()).isEqualTo("the store is closed");
        when(servers.get(1).isStopped()).thenReturn(false);
        assertThat(manager.transfer(0, 1).isOver()).as("too late").isTrue();
    }

    @Test
    void shouldEndTransfersWhenTheStoreStops() {
        complete();
        final Transfer moving = manager.transfer(0, 1);
        when(servers.get(1).roleChanges().isUnopened(0)).thenReturn(true);
        manager.doWork();
        manager.doWork();
        assertThat(moving.isOver()).isFalse();
        when(servers.get(1).isStopped()).thenReturn(true);
        assertThat(moving.isOver()).isTrue();
    }

    /** What is stored may be a hand-over. */
    @Test
    void shouldNotBeStillWhileServersDoNotFollowWhatIsStored() {
        manager.mayNotMove();
        assertThat(manager.awaitStill(new WaitLimit(clock, 0), () -> true)).isTrue();
        stored = first.completed(Map.of(1, Set.of(0)));
        assertThat(manager.awaitStill(new WaitLimit(clock, 0), () -> true)).isFalse();
    }

    /** The attempt was stored, although it failed: the retry finds that, and would move a primary. */
    @Test
    void shouldNotRetryWhileNoPrimaryMayMove() {
        complete();
        manager.transfer(0, 1);
        fails = new IllegalStateException("no answer");
        manager.doWork();
        fails = null;
        stored = stored.handedOver(Map.of(0, 1));
        manager.mayNotMove();
        clock.advanceNs(1_000_000_000);
        assertThat(manager.doWork()).isZero();
        assertThat(manager.inForce().shard(0).primary()).isZero();
        manager.mayMove();
        manager.doWork();
        assertThat(manager.inForce().shard(0).primary()).isOne();
    }

    /** A port that fails keeps nothing from others, and no epoch from being renewed. */
    @Test
    void shouldReportAnObserverThatFails() {
        final List<Configuration> others = new ArrayList<>();
        manager.observe(next -> {
            throw new IllegalStateException("the port is broken");
        });
        manager.observe(others::add);
        complete();
        assertThat(others).containsExactly(stored);
        assertThat(errors.distinct()).hasSize(1);
        assertThat(manager.renew(0, List.of(0))).isNull();
    }
}
