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
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.concurrent.LatencyHistogram;
import org.rowankv.server.authority.Electorate;
import org.rowankv.server.authority.LeaseTimes;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.topology.Configuration;

/** When a member asks to replace the manager, and how long it has to wait afterwards. */
@Tag("mocked")
final class ElectionTest {
    private static final int MANAGER = 0;
    private static final int CANDIDATE = 1;
    private static final int OTHER = 2;
    private static final long LEASE_MS = 400;
    private static final LeaseTimes TIMES = LeaseTimes.of(TimeUnit.MILLISECONDS.toNanos(LEASE_MS));
    private static final long STEP_MS = 10;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final ManualClock clock = new ManualClock();
    private final LatencyHistogram margins = new LatencyHistogram();
    private final ClusterNodes nodes =
            new ClusterNodes(new MemoryConfigurationStore(), "test", new SplittableRandomSource(1));
    private final Adoption adoption = mock(Adoption.class);
    private final PeerCalls calls = mock(PeerCalls.class);
    private final Configuration first = managed(1, MANAGER);

    private LeaseAgent leases;
    private Election election;
    private boolean managerLives = true;
    private boolean isUnreachable;
    private boolean otherMissesManager = true;
    private Runnable whileAsking = () -> {};
    private long lastHeardNs;
    private int requestedOf = -1;

    private static Configuration managed(long term, int manager) {
        final Configuration plain = Configuration.initial(1, 1, 3, 2, 3, List.of(1L, 1L, 1L));
        return new Configuration(1, 1, term, plain.incarnations(), plain.shards(), 1, manager, Set.of());
    }

    @BeforeEach
    void start() {
        assertThat(nodes.decide(first, ConfigurationStore.ABSENT)).isTrue();
        leases = new LeaseAgent(CANDIDATE, 3, 1, TIMES, clock, this::sent, server -> false, () -> {}, margins);
        leases.started(Electorate.of(first), true, null);
        when(adoption.prepared()).thenReturn(first);
        when(adoption.prepare(any())).thenReturn(true);
        final PeerCalls.Call call = mock(PeerCalls.Call.class);
        when(call.awaitWhile(any(), any())).thenAnswer(asked -> {
            whileAsking.run();
            return PeerMessageDescriptor.write(
                    PeerRequestType.HEARS_MANAGER, true, 0, 1, 0, otherMissesManager ? 0 : 1, NOTHING);
        });
        when(calls.begin(anyInt(), anyInt(), anyInt(), anyLong(), any())).thenReturn(call);
        election = new Election(
                CANDIDATE,
                nodes,
                leases,
                adoption,
                step -> step.getAsBoolean(),
                mock(ConfigurationManager.class),
                server -> 1,
                calls,
                () -> {},
                server -> isUnreachable);
    }

    /** The manager grants at once what is requested, while it lives. */
    private void sent(int to, ByteBuffer message) {
        if (PeerMessageDescriptor.question(message) == PeerRequestType.LEASE) {
            requestedOf = to;
        }
        if (managerLives && to == MANAGER && PeerMessageDescriptor.question(message) == PeerRequestType.LEASE) {
            leases.onMessage(
                    MANAGER,
                    1,
                    PeerMessageDescriptor.write(
                            PeerRequestType.LEASE,
                            true,
                            0,
                            PeerMessageDescriptor.term(message),
                            0,
                            PeerMessageDescriptor.argument(message),
                            PeerMessageDescriptor.payload(message)));
            lastHeardNs = clock.nanoTime();
        }
    }

    private void confirm() {
        final ByteBuffer payload = ByteBuffer.allocate(2 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        leases.onMessage(
                MANAGER,
                1,
                PeerMessageDescriptor.write(PeerRequestType.CONFIRM, false, 0, 1, 0, clock.nanoTime(), payload));
    }

    /** Returns whether it was elected. */
    private boolean pass(long ms) {
        for (long passed = 0; passed < ms; passed += STEP_MS) {
            clock.advanceMs(STEP_MS);
            leases.doWork();
            if (managerLives) {
                confirm();
            }
            if (election.step()) {
                return true;
            }
        }
        return false;
    }

    private long silentMs() {
        return TimeUnit.NANOSECONDS.toMillis(clock.nanoTime() - lastHeardNs);
    }

    @Test
    void shouldNotReplaceAManagerThatGrants() {
        assertThat(pass(5_000)).isFalse();
    }

    @Test
    void shouldReplaceASilentManagerWhenAllItsLeasesAreOver() {
        pass(1_000);
        managerLives = false;
        assertThat(pass(1_000)).isTrue();
        assertThat(silentMs())
                .isBetween(
                        TimeUnit.NANOSECONDS.toMillis(TIMES.oneLeaseNs()),
                        TimeUnit.NANOSECONDS.toMillis(TIMES.oneLeaseNs()) + STEP_MS);
    }

    @Test
    void shouldReplaceAManagerThatCannotBeConnectedBeforeItsLeasesAreOver() {
        pass(1_000);
        managerLives = false;
        isUnreachable = true;
        assertThat(pass(1_000)).isTrue();
        assertThat(silentMs()).isBetween(LEASE_MS / 2, LEASE_MS / 2 + STEP_MS);
    }

    @Test
    void shouldNotReplaceAManagerThatGrantsAlthoughItCannotBeConnected() {
        isUnreachable = true;
        assertThat(pass(5_000)).isFalse();
    }

    @Test
    void shouldNotCountTheTimeInWhichItStoodStill() {
        pass(1_000);
        managerLives = false;
        pass(300);
        final long stoodMs = 10_000;
        clock.advanceMs(stoodMs);
        assertThat(pass(1_000)).isTrue();
        assertThat(silentMs() - stoodMs)
                .isBetween(
                        TimeUnit.NANOSECONDS.toMillis(TIMES.oneLeaseNs()),
                        TimeUnit.NANOSECONDS.toMillis(TIMES.oneLeaseNs()) + LEASE_MS / 4);
    }

    @Test
    void shouldNotReplaceAManagerThatOthersHear() {
        pass(1_000);
        managerLives = false;
        otherMissesManager = false;
        assertThat(pass(4_000)).isFalse();
    }

    @Test
    void shouldNotReplaceAManagerThatGrantsWhileOthersAreAsked() {
        pass(1_000);
        managerLives = false;
        whileAsking = () -> {
            managerLives = true;
            clock.advanceMs(STEP_MS);
            leases.doWork();
            clock.advanceMs(LEASE_MS / 4);
            leases.doWork();
        };
        assertThat(pass(1_000)).isFalse();
    }

    @Test
    void shouldNotReplaceTheManagerOfATermThatItPreparedWhileOthersWereAsked() {
        pass(1_000);
        managerLives = false;
        whileAsking = () -> {
            final Configuration second = managed(2, OTHER);
            leases.change(now -> now.preparing(Electorate.of(second)));
            when(adoption.prepared()).thenReturn(second);
        };
        assertThat(pass(700)).isFalse();
    }

    /** It has fenced what the other manager's term excludes; its promise forbids to follow it, so that one begins another. */
    @Test
    void shouldGiveTimeToAManagerWhoseTermItMayNotPrepare() {
        pass(1_000);
        managerLives = false;
        pass(400);
        final Configuration second = managed(2, OTHER);
        assertThat(nodes.decide(second, nodes.configuration().version())).isTrue();
        when(adoption.prepared()).thenReturn(second);
        assertThat(pass(2 * LEASE_MS - STEP_MS)).isFalse();
        assertThat(pass(2 * LEASE_MS)).isTrue();
    }

    @Test
    void shouldWaitOnlyForLeasesThatItConfirmedItself() {
        pass(1_000);
        managerLives = false;
        final long confirmedNs = clock.nanoTime();
        assertThat(pass(1_000)).isTrue();
        // Unless all members prepare its term, two leases; counted from its own confirmation, not from a later read.
        final long left = leases.authority().managing().commitRemainingNs(leases.now(), TIMES);
        assertThat(left).isEqualTo(TIMES.twoLeasesNs() - (clock.nanoTime() - confirmedNs));
    }

    @Test
    void shouldWaitForAVoteOfTheStoreAfterItsOwnConfirmation() {
        pass(1_000);
        managerLives = false;
        pass(200); // it has read by now
        assertThat(nodes.vote(nodes.configuration().version())).isTrue();
        assertThat(pass(1_000)).isTrue();
        final long left = leases.authority().managing().commitRemainingNs(leases.now(), TIMES);
        assertThat(left).isEqualTo(TIMES.twoLeasesNs()); // from the read that saw the vote
    }

    @Test
    void shouldRequestALeaseAtOnceWhenItPreparesAnotherTerm() {
        pass(1_000);
        leases.change(now -> now.preparing(Electorate.of(managed(2, OTHER))));
        assertThat(requestedOf).isEqualTo(OTHER);
    }

    @Test
    void shouldMissTheManagerAfterHalfALease() {
        pass(1_000);
        assertThat(leases.missesManager()).isFalse();
        managerLives = false;
        while (silentMs() < LEASE_MS / 2 - STEP_MS) {
            clock.advanceMs(STEP_MS);
            leases.doWork();
            assertThat(leases.missesManager()).isFalse();
        }
        clock.advanceMs(2 * STEP_MS);
        assertThat(leases.missesManager()).isTrue();
        assertThat(leases.mayAnswer()).isTrue();
    }

    @Test
    void shouldRecordWhatWasLeftOfEachLease() {
        pass(1_000);
        long all = 0;
        for (int bucket = 0; bucket < LatencyHistogram.buckets() - 1; bucket++) {
            all += margins.count(bucket);
            if (LatencyHistogram.boundNs(bucket) < TimeUnit.MILLISECONDS.toNanos(LEASE_MS / 2)) {
                assertThat(margins.count(bucket)).isZero();
            }
        }
        assertThat(all).isEqualTo(12);
        managerLives = false;
        for (int i = 0; i < 50; i++) {
            clock.advanceMs(STEP_MS);
            leases.doWork();
        }
        assertThat(leases.mayAnswer()).isFalse();
        managerLives = true;
        pass(100);
        assertThat(margins.count(0)).isEqualTo(1);
    }
}
