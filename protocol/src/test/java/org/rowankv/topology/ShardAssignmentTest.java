package org.rowankv.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;

class ShardAssignmentTest {
    private static final ShardAssignment FOUND = new ShardAssignment(4, 0, new int[] {1, 2, 3}, Set.of(1));

    @Test
    void shouldKeepItsPrimaryWhenABackupIsExcluded() {
        assertThat(FOUND.excluding(Set.of(2), 3)).isEqualTo(new ShardAssignment(5, 0, new int[] {1, 3}, Set.of(1)));
        assertThat(FOUND.excluding(Set.of(1), 3)).isEqualTo(new ShardAssignment(5, 0, new int[] {2, 3}));
    }

    @Test
    void shouldPromoteThePreferredCompleteReplica() {
        assertThat(FOUND.excluding(Set.of(0), 3)).isEqualTo(new ShardAssignment(5, 3, new int[] {1, 2}, Set.of(1)));
    }

    @Test
    void shouldPromoteAnotherIfThePreferredOneIsJoiningOrExcluded() {
        assertThat(FOUND.excluding(Set.of(0), 1)).isEqualTo(new ShardAssignment(5, 2, new int[] {1, 3}, Set.of(1)));
        assertThat(FOUND.excluding(Set.of(0, 2), 2)).isEqualTo(new ShardAssignment(5, 3, new int[] {1}, Set.of(1)));
        assertThat(FOUND.excluding(Set.of(0), 9)).isEqualTo(new ShardAssignment(5, 2, new int[] {1, 3}, Set.of(1)));
    }

    @Test
    void shouldKeepItsOrigin() {
        final ShardAssignment empty = FOUND.recovered(2, true);
        assertThat(empty).isEqualTo(new ShardAssignment(5, 2, new int[0], Set.of(), 5));
        final ShardAssignment grown = empty.adding(0).adding(1).joined(0);
        assertThat(grown).isEqualTo(new ShardAssignment(7, 2, new int[] {0, 1}, Set.of(1), 5));
        assertThat(grown.excluding(Set.of(2), 0).origin()).isEqualTo(5);
        assertThat(grown.without(Set.of(2), 0).origin()).isEqualTo(5);
        assertThat(grown.swapped(0).origin()).isEqualTo(5);
        assertThat(grown.withEpoch(9).origin()).isEqualTo(5);
        assertThat(grown.recovered(1, false)).isEqualTo(new ShardAssignment(8, 1, new int[0], Set.of(), 5));
    }

    @Test
    void shouldRefuseAnOriginThatItsEpochHasNotReached() {
        assertThatThrownBy(() -> new ShardAssignment(4, 0, new int[0], Set.of(), 5))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldPromoteNoJoiningReplica() {
        assertThat(FOUND.excluding(Set.of(0, 2, 3), 1)).isNull();
    }

    @Test
    void shouldKeepItsEpochIfItHasNoneOfTheExcluded() {
        assertThat(FOUND.excluding(Set.of(7), 1)).isEqualTo(FOUND);
    }

    @Test
    void shouldAddABackupThatIsJoining() {
        assertThat(FOUND.adding(5)).isEqualTo(new ShardAssignment(5, 0, new int[] {1, 2, 3, 5}, Set.of(1, 5)));
    }

    @Test
    void shouldRefuseAnEpochBehindTheLast() {
        final ShardAssignment last = new ShardAssignment(Version.MAX_EPOCH, 0, new int[] {1});
        assertThatThrownBy(() -> last.excluding(Set.of(1), 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("all of its");
    }
}
