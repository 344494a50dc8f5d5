package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.request.LeasedShard.SESSION;

import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.shard.RolesOfOne;

/** Mutations of a shard that demands three complete replicas, and has three, or two. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class MinReplicasAnswersTest {
    private final LeasedShard shard = new LeasedShard(1, 3);

    private static Request identified(Request request, long sequence) {
        request.identified(SESSION, sequence, 0);
        return request;
    }

    private Status applied(Request request) {
        final Status at = shard.answered(request);
        if (at != null) {
            return at;
        }
        shard.replicator.acknowledge();
        return shard.advanced(request);
    }

    private void join() {
        RolesOfOne.replace(shard.roles, RolesOfOne.changed(shard.roles.get().configuration(), Set.of(2), 1, 2));
    }

    private void complete() {
        RolesOfOne.replace(shard.roles, RolesOfOne.changed(shard.roles.get().configuration(), Set.of(), 1, 2));
    }

    @BeforeEach
    void open() {
        assertThat(applied(shard.openSession(SESSION))).isEqualTo(Status.OK);
        assertThat(applied(identified(shard.put("a", "1"), 1))).isEqualTo(Status.OK);
    }

    @Test
    void shouldRefuseWithoutATraceWhileAReplicaIsJoining() {
        join();
        final long last = shard.last();
        final Request put = identified(shard.put("a", "2"), 2);
        assertThat(applied(put)).isEqualTo(Status.UNDER_REPLICATED);
        assertThat(shard.last()).isEqualTo(last);
        assertThat(shard.isNothingInFlight()).isTrue();
        assertThat(shard.isNothingLocked()).isTrue();
        assertThat(applied(shard.get("a"))).isEqualTo(Status.OK);
        complete();
        assertThat(applied(put)).isEqualTo(Status.OK);
        assertThat(put.version()).isGreaterThan(last);
    }

    @Test
    void shouldNotAcknowledgeWhatLostItsReplicasWhileUnderWay() {
        final Request put = identified(shard.put("a", "2"), 2);
        assertThat(shard.answered(put)).isNull();
        join();
        shard.replicator.acknowledge();
        assertThat(shard.advanced(put)).isEqualTo(Status.NO_REPLY);
        final long applied = shard.last();
        // A repeated answer would acknowledge it too.
        assertThat(applied(put)).isEqualTo(Status.UNDER_REPLICATED);
        complete();
        assertThat(applied(put)).isEqualTo(Status.OK);
        assertThat(put.version()).isEqualTo(applied);
        assertThat(shard.last()).isEqualTo(applied);
    }

    @Test
    void shouldGoOnToEndWhatHasExpiredOrIsEvicted() {
        assertThat(applied(identified(shard.put("b", "1").ttl(1, 1), 2))).isEqualTo(Status.OK);
        join();
        shard.clock.advanceMs(1_000);
        final long last = shard.last();
        assertThat(applied(shard.get("b"))).isEqualTo(Status.NOT_FOUND);
        assertThat(shard.last()).isGreaterThan(last);
    }
}
