package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.dispatch.MutationPipeline;
import org.rowankv.server.dispatch.NotServedException;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.dispatch.RequestDispatch;
import org.rowankv.server.dispatch.ServerAgents;
import org.rowankv.server.dispatch.ServingState;
import org.rowankv.server.dispatch.WorkerPool;
import org.rowankv.server.shard.ShardPrimary;

/** Reads without a worker context: lease, read, role, in this order. */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class PermittedReadsTest {
    private final LeasedShard shard = new LeasedShard(0);
    private final ErrorLog errors = new ErrorLog(shard.clock);
    private final ServingState serving = new ServingState();
    private final RequestDispatch dispatch = new RequestDispatch(
            0,
            shard.roles,
            shard,
            shard.reader,
            WorkerPool.of(1, 1, (slot, loop) -> shard.worker),
            new ServerAgents(ThreadScheduling.INSTANCE, errors, serving, fault -> {}),
            serving,
            ThreadScheduling.INSTANCE,
            shard.clock,
            server -> {});
    private final MutationPipeline loop = new MutationPipeline(dispatch, new int[] {0}, LeasedShard.AT_ONCE);

    @BeforeEach
    void open() {
        serving.open();
        assertThat(shard.answered(shard.put("a", "1"))).isEqualTo(Status.OK);
        shard.asked = 0;
        Chaos.reset();
    }

    @AfterEach
    void reset() {
        Chaos.reset();
    }

    private Request read(String key) {
        final Request get = shard.get(key);
        dispatch.call(get);
        return get;
    }

    private void requireRefused(Request get) {
        assertThat(get.status()).isEqualTo(Status.NOT_PRIMARY);
        assertThat(get.hasResult()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "b"})
    void shouldReadWithALeaseOnly(String key) {
        shard.isLeased = false;
        requireRefused(read(key));
        assertThat(shard.asked).isOne();
        shard.isLeased = true;
        assertThat(read(key).status()).isEqualTo(key.equals("a") ? Status.OK : Status.NOT_FOUND);
        assertThat(shard.asked).isEqualTo(2);
    }

    /** The read is as of the check, however long the process stood still behind it. */
    @Test
    void shouldAnswerWhenTheLeaseEndsBehindItsCheck() {
        shard.onAsked = () -> shard.isLeased = false;
        assertThat(read("a").resultBytes()).isEqualTo(LeasedShard.bytes("1"));
    }

    /** Behind the check of the lease and before the read: what is read may be what another primary has sent. */
    @ParameterizedTest
    @ValueSource(strings = {"a", "b"})
    void shouldDropWhatItReadOfARoleThatHadLeft(String key) {
        shard.onAsked = shard::leave;
        requireRefused(read(key));
    }

    /** In the middle of the read, behind the copy of the value. */
    @Test
    void shouldDropWhatItReadWhileTheRoleLeft() {
        Chaos.install(point -> {
            if (point.equals("read.copied")) {
                shard.leave();
            }
        });
        requireRefused(read("a"));
        assertThat(Chaos.hits("read.copied")).isOne();
    }

    @Test
    void shouldRefuseToScanWithoutALease() {
        shard.isLeased = false;
        assertThatThrownBy(() -> dispatch.beginRead(0))
                .isInstanceOfSatisfying(
                        NotServedException.class, e -> assertThat(e.status()).isEqualTo(Status.NOT_PRIMARY));
        assertThatThrownBy(() -> dispatch.beginRead(1)).isInstanceOf(NotServedException.class);
    }

    @Test
    void shouldDropAScanOfARoleThatHasLeft() {
        final ShardPrimary scanned = dispatch.beginRead(0);
        dispatch.endRead(scanned);
        shard.leave();
        assertThatThrownBy(() -> dispatch.endRead(scanned))
                .isInstanceOfSatisfying(
                        NotServedException.class, e -> assertThat(e.status()).isEqualTo(Status.NOT_PRIMARY));
    }

    private Request stepped(String key) {
        final Request get = shard.get(key);
        final PollableCall call = loop.callOf(get);
        call.again();
        assertThat(call.step()).isTrue();
        return get;
    }

    @Test
    void shouldAskOnceForTheReadsThatArrivedTogether() {
        loop.arrived();
        for (int i = 0; i < 10; i++) {
            assertThat(stepped("a").status()).isEqualTo(Status.OK);
        }
        assertThat(shard.asked).isOne();
    }

    /** What was permitted before its arrival may be older than a write that its client has seen. */
    @Test
    void shouldAskAgainForAReadThatArrivedLater() {
        loop.arrived();
        assertThat(stepped("a").status()).isEqualTo(Status.OK);
        shard.isLeased = false;
        loop.arrived();
        requireRefused(stepped("a"));
        shard.isLeased = true;
        loop.poll();
        assertThat(stepped("a").status()).isEqualTo(Status.OK);
    }

    /** The role is compared for each, though the lease is not checked again. */
    @Test
    void shouldDropAReadOfABatchWhoseRoleHasLeftMeanwhile() {
        loop.arrived();
        assertThat(stepped("a").status()).isEqualTo(Status.OK);
        Chaos.install(point -> {
            if (point.equals("read.copied")) {
                shard.leave();
            }
        });
        requireRefused(stepped("a"));
    }
}
