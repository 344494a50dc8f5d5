package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.shard.ShardChanges;

/** How long a server keeps changes of a cache while its agents are not run. */
@Tag("chaos")
@Timeout(120)
final class ChangeLeaseTest {
    private static final int CACHE = 1;
    private static final long LEASE_MS = ShardChanges.LEASE_NS / 1_000_000;

    private final SteppedStore store = SteppedStore.open(
            EmbeddedSettings.of(with -> {
                with.servers = 1;
                with.shards = 1;
                with.workers = 1;
                with.capacityBytes = 26 << 16;
                with.segmentBytes = 64 << 10;
                with.maxMessage = 1024;
            }),
            new KeptStore(),
            1_000_000_000L,
            1_700_000_000_000L,
            1);

    @AfterEach
    void leave() {
        Chaos.reset();
    }

    private ShardChanges changes() {
        return store.cluster().servers().get(0).replicas().get(0).changes();
    }

    private void ask() {
        assertThat(changes().request(CACHE, false, () -> Version.of(1, 1))).isNotEqualTo(Version.NONE);
    }

    @Test
    void shouldCountALeaseFromTheQuestionWhereTheAgentStoodStill() {
        final AtomicBoolean stands = new AtomicBoolean(true);
        ask();
        Chaos.install(point -> {
            if (point.equals("commit.counted") && stands.getAndSet(false)) {
                store.clock().advanceMs(2 * LEASE_MS);
                ask();
            }
        });
        store.agents().step(20);

        assertThat(stands).isFalse();
        assertThat(changes().requested(CACHE)).isEqualTo(ShardChanges.REQUESTED);

        store.clock().advanceMs(LEASE_MS + 1);
        store.agents().step(20);
        assertThat(changes().requested(CACHE)).as("without a further request").isEqualTo(ShardChanges.NOT_REQUESTED);
    }
}
