package org.rowankv.server.digest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Who drew what has landed of a shard that goes from server to server. */
final class DrawnCreditTest {
    private static final int SHARD = 1;

    private final DrawnCredit drawn = new DrawnCredit(2);

    /** Server 2 is excluded; server 1, which never opened the shard, hands it over before that is counted. */
    @Test
    void shouldCountForAnExcludedServerWhatItDrewThoughTheShardWentOn() {
        drawn.add(SHARD, 100);
        drawn.losesShard(SHARD, 2);
        drawn.losesShard(SHARD, 1);
        assertThat(drawn.isOf(SHARD, 2)).isTrue();
        drawn.beginEpoch(SHARD);

        assertThat(drawn.isOf(SHARD, 2)).isFalse();
        assertThat(drawn.take(SHARD)).isZero();
        assertThat(drawn.takeFormer(1)).isZero();
        assertThat(drawn.takeFormer(2)).isEqualTo(100);
    }

    @Test
    void shouldCountForEachPrimaryWhatItDrew() {
        drawn.add(SHARD, 100);
        drawn.losesShard(SHARD, 2);
        drawn.beginEpoch(SHARD);
        drawn.add(SHARD, 7);
        drawn.losesShard(SHARD, 0);

        assertThat(drawn.isOf(SHARD, 0)).isTrue();
        assertThat(drawn.take(SHARD)).isEqualTo(7);
        assertThat(drawn.takeFormer(2)).isEqualTo(100);
        assertThat(drawn.takeFormer(2)).isZero();
    }
}
