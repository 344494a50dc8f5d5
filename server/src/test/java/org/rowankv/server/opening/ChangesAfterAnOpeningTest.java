package org.rowankv.server.opening;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.opening.LiveCluster.CACHE;
import static org.rowankv.server.opening.LiveCluster.bytes;
import static org.rowankv.server.opening.LiveCluster.key;
import static org.rowankv.server.opening.LiveCluster.put;

import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.BackendShards;
import org.rowankv.server.shard.ShardChanges;

/** A change stream does not go on at another server; it says so. */
final class ChangesAfterAnOpeningTest {
    private static final int DEAD = 0;
    private static final int NEXT = 1;
    private static final int SHARD = 0;

    @Test
    void shouldReportALossToASubscriberOfTheFormerPrimary() {
        try (LiveCluster cluster = new LiveCluster(3)) {
            final Server next = cluster.servers.get(NEXT);
            final BackendShards before = new BackendShards(cluster.servers.get(DEAD));
            final BackendShards after = new BackendShards(next);
            final long position = cluster.ok(put(key(SHARD, 0), bytes(1, 1))).version();
            final long unused = before.changes(SHARD).request(CACHE, false, () -> before.lastVersion(SHARD));
            // It was the primary once, and what subscribed then has not lapsed.
            final long early = next.replicas().get(SHARD).changes().request(CACHE, false, () -> position);
            assertThat(early).isEqualTo(position);
            cluster.ok(put(key(SHARD, 0), bytes(1, 2)));
            cluster.stop(DEAD);
            cluster.adopt(cluster.excluding(NEXT, DEAD));
            assertThat(after.isPrimary(SHARD)).isFalse();
            cluster.stepUntil(cluster::isAllOpen);

            final ShardChanges changes = after.changes(SHARD);
            assertThat(changes.read(CACHE, position, after.finishedVersion(SHARD), 1_000)
                            .to())
                    .as("without a subscription here nothing is said to be complete")
                    .isEqualTo(position);
            final long from = changes.request(CACHE, false, () -> after.lastVersion(SHARD));
            assertThat(Version.epoch(from)).isEqualTo(2);
            final long written = cluster.ok(put(key(SHARD, 0), bytes(1, 3))).version();
            final ShardChanges.Reading late = changes.read(CACHE, position, after.finishedVersion(SHARD), 1_000);
            assertThat(late.lostTo()).isEqualTo(from);
            assertThat(late.changes()).singleElement().matches(change -> change.version() == written);
        }
    }
}
