package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardPrimary;

/** Another server becomes the primary of a shard in which mutations are under way. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class DepartingShardTest {
    private final LeasedShard shard = new LeasedShard(1);
    private final Request waiting = shard.put("a", "2");
    private long before;
    private long space;

    @BeforeEach
    void putFirst() {
        final Request first = shard.put("a", "1");
        assertThat(shard.answered(first)).isNull();
        shard.replicator.acknowledge();
        assertThat(shard.advanced(first)).isEqualTo(Status.OK);
        shard.worker.releaseGrants();
        before = shard.last();
        space = shard.segments.space().available();
    }

    private void requireNoTrace() {
        assertThat(waiting.status()).isEqualTo(Status.NOT_PRIMARY);
        assertThat(shard.last()).as("no version was taken").isEqualTo(before);
        assertThat(shard.isNothingInFlight()).isTrue();
        assertThat(shard.isNothingLocked()).isTrue();
        assertThat(shard.worker.hasLeftover()).isFalse();
        assertThat(shard.backup.entries()).as("the first put's").hasSize(1);
        shard.backup.requireExactCredit();
        shard.worker.releaseGrants();
        assertThat(shard.segments.space().available()).isEqualTo(space);
    }

    @Test
    void shouldRefuseWhatHasNotBegunYet() {
        shard.leave();
        shard.worker.begin(shard.primary, waiting);
        assertThat(shard.worker.advance()).isTrue();
        requireNoTrace();
    }

    /** The holder of the lock waits for acknowledgements that never come. */
    @Test
    void shouldRefuseWhatWaitsForALock() {
        shard.worker.begin(0, shard.primary, shard.put("a", "3"));
        assertThat(shard.worker.advance(0)).isFalse();
        before = shard.last();
        shard.worker.begin(1, shard.primary, waiting);
        assertThat(shard.worker.advance(1)).isFalse();
        shard.leave();
        assertThat(shard.worker.advance(1)).isTrue();
        assertThat(waiting.status()).isEqualTo(Status.NOT_PRIMARY);
        assertThat(shard.last()).isEqualTo(before);
        assertThat(shard.worker.isIdle(0)).isFalse();
    }

    @Test
    void shouldRefuseWhatWaitsForSpace() {
        shard.worker.retireLog();
        space = shard.segments.space().available();
        shard.fill();
        shard.worker.begin(shard.primary, waiting);
        assertThat(shard.worker.advance()).isFalse();
        shard.leave();
        assertThat(shard.worker.advance()).isTrue();
        requireNoTrace();
    }

    /** Behind its admission, in the last moment before it takes a version; what ends something needs no credit. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldTakeNoVersionWhenTheRoleLeavesDuringItsAdmission(boolean returns) {
        shard.onPoint = point -> {
            if (point.equals("replicator.credit")) {
                shard.leave();
                if (returns) {
                    RolesOfOne.putInForce(shard.roles, new ShardPrimary(shard.replica, new VersionCounter(3)));
                }
            }
        };
        final Request larger = shard.put("a", "larger than before, so that it needs credit".repeat(4));
        shard.worker.begin(shard.primary, larger);
        assertThat(shard.worker.advance()).isTrue();
        waiting.answer(larger.status(), 0, 0, 0);
        requireNoTrace();
    }

    /** Its entry may be on some backups: the new primary decides. Its caller learns nothing here. */
    @Test
    void shouldNotCompleteWhatHasAVersion() {
        shard.worker.begin(shard.primary, waiting);
        assertThat(shard.worker.advance()).isFalse();
        shard.leave();
        shard.replicator.acknowledge();
        assertThat(shard.worker.advance()).as("all acknowledged").isFalse();
        assertThat(shard.isNothingInFlight()).as("CommitVer stays below it").isFalse();
        assertThat(shard.worker.finishLeftover()).as("its caller has given up").isFalse();
        assertThat(shard.isNothingInFlight()).isFalse();

        final Request get = shard.get("a");
        assertThat(shard.reader.get(shard.replica, get, 0)).isTrue();
        assertThat(get.resultBytes()).as("it is invisible").isEqualTo(LeasedShard.bytes("1"));
    }
}
