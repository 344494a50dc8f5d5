package org.rowankv.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.protocol.PartList;

/** An id is never pinned and condemned at once. */
class ShardPartsTest {
    private final ShardParts parts = new ShardParts();

    @Test
    void shouldNotCondemnAnIdWhoseListIsBeingPut() {
        assertThat(parts.pin(5)).isTrue();
        assertThat(parts.pin(5)).as("a retry of the same put").isTrue();
        assertThat(parts.condemn(5)).isFalse();
        parts.unpin(5);
        assertThat(parts.condemn(5)).as("one put is left").isFalse();
        parts.unpin(5);
        assertThat(parts.condemn(5)).isTrue();
    }

    @Test
    void shouldNotPinACondemnedId() {
        assertThat(parts.condemn(5)).isTrue();
        assertThat(parts.pin(5)).isFalse();
        assertThat(parts.pin(6)).isTrue();
        parts.acquit(5);
        assertThat(parts.pin(5)).isTrue();
    }

    @Test
    void shouldKeepWhatHasEndedUntilItIsRemovedOrphansFirst() {
        assertThat(parts.isWaiting()).isFalse();
        parts.ended(3, new PartList(1, 10, 4, 0), 7);
        parts.orphaned(new ShardParts.Ended(3, 2, 9, 0));
        final ShardParts.Ended orphans = parts.take(6);
        assertThat(orphans).isEqualTo(new ShardParts.Ended(3, 2, 9, 0));
        assertThat(parts.take(6)).as("its grace is not over").isNull();
        final ShardParts.Ended replaced = parts.take(7);
        assertThat(replaced).isEqualTo(new ShardParts.Ended(3, 1, 3, 7));
        assertThat(parts.take(7)).isNull();
        parts.removed(replaced);
        assertThat(parts.isWaiting()).isTrue();
        parts.removed(orphans);
        assertThat(parts.isWaiting()).isFalse();
    }

    /** What is forgotten is found as orphans. */
    @Test
    void shouldRememberABoundedNumberOfEndedValues() {
        for (int i = 0; i < ShardParts.MAX_ENDED + 5; i++) {
            parts.ended(3, new PartList(i, 10, 4, 0), 0);
        }
        for (int i = 0; i < ShardParts.MAX_ENDED; i++) {
            parts.removed(parts.take(0));
        }
        assertThat(parts.isWaiting()).isFalse();
    }
}
