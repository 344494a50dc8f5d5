package org.rowankv.server.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.ResultBits;
import org.rowankv.server.log.Segments;
import org.rowankv.server.request.Worker;
import org.rowankv.server.shard.KeyLocks;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;

@Tag("mocked")
class RetentionWorkerTest {
    private final Worker worker = mock(Worker.class);
    private final RetentionWorker retention = new RetentionWorker(worker, mock(Segments.class));

    private ShardPrimary primary() {
        final ShardPrimary primary = mock(ShardPrimary.class);
        final ShardReplica replica = mock(ShardReplica.class);
        when(primary.replica()).thenReturn(replica);
        return primary;
    }

    @Test
    void shouldGiveBackWhatWasDrawnAheadAsSoonAsNothingIsUnderWay() {
        assertThat(retention.doWork()).isZero();
        retention.beginSessionEnds(this, primary(), new long[] {7}, 1, 3);
        retention.requestRelease();
        when(worker.advance()).thenReturn(false);
        when(worker.withdraw()).thenReturn(false);
        assertThat(retention.step()).isEqualTo(RetentionWorker.Outcome.PENDING);
        assertThat(retention.awaitsAnswer()).isTrue();
        assertThat(retention.doWork()).isZero();
        verify(worker, never()).releaseGrants();

        when(worker.advance()).thenReturn(true);
        assertThat(retention.step()).isEqualTo(RetentionWorker.Outcome.ANSWERED);
        assertThat(retention.awaitsAnswer()).isFalse();
        assertThat(retention.doWork()).isOne();
        assertThat(retention.doWork()).isZero();
        verify(worker, times(1)).releaseGrants();

        // Space is requested again: credit granted since is released too.
        retention.requestRelease();
        assertThat(retention.doWork()).isOne();
        verify(worker, times(2)).releaseGrants();
    }

    /** A full in-flight window implies nothing about room. */
    @Test
    void shouldTellALapFromAWantOfRoom() {
        when(worker.withdraw()).thenReturn(true);
        retention.beginSessionEnds(this, primary(), new long[] {7}, 1, 3);
        when(worker.awaitsWindow()).thenReturn(true);
        assertThat(retention.step()).isEqualTo(RetentionWorker.Outcome.AHEAD);
        retention.beginSessionEnds(this, primary(), new long[] {7}, 1, 3);
        when(worker.awaitsWindow()).thenReturn(false);
        assertThat(retention.step()).isEqualTo(RetentionWorker.Outcome.WITHOUT_ROOM);
        retention.beginSessionEnds(this, primary(), new long[] {7}, 1, 3);
        when(worker.awaitsLock()).thenReturn(true);
        assertThat(retention.step()).isEqualTo(RetentionWorker.Outcome.LOCKED);
    }

    /** A caller holds the lock of the object's key: other objects may be ended meanwhile. */
    @Test
    void shouldTellALockFromAWantOfRoom() {
        final OnePrimary one = new OnePrimary();
        one.put(1, "k", 10, 1_000);
        one.clock.advanceMs(2_000);
        final int stripe = KeyLocks.stripeOf(one.positionOf(1, "k"));
        assertThat(one.replica.keyLocks().tryLock(stripe, 1)).isTrue();
        one.retention.beginGet(this, one.primary, one.addressOf(1, "k"));
        assertThat(one.retention.step()).isEqualTo(RetentionWorker.Outcome.LOCKED);
        assertThat(one.retention.isUsedBy(this)).isFalse();

        one.replica.keyLocks().unlock(stripe, 1);
        one.retention.beginGet(this, one.primary, one.addressOf(1, "k"));
        assertThat(one.retention.step()).isEqualTo(RetentionWorker.Outcome.ANSWERED);
        assertThat(one.retention.answerHas(ResultBits.EXPIRED)).isTrue();
    }
}
