package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.engine.Server;
import org.rowankv.topology.KeyHash;

/** Which cycles of a server's agents prove that no more space can be freed. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class QuiescenceTrackerTest {
    /** The eviction scans a part of their buckets per cycle. */
    private static final int OTHERS = 12_000;

    private static final int LIMITED = 2;
    private static final int CYCLES = 1_000;

    private final SteppedStore store = SteppedStore.open(
            EmbeddedSettings.of(with -> {
                with.servers = 1;
                with.shards = 1;
                with.workers = 1;
                with.capacityBytes = 8 << 20;
                with.segmentBytes = 64 << 10;
                with.scrubMibPerSecond = 0;
            }),
            new KeptStore(),
            1_000_000_000L,
            1_700_000_000_000L,
            1);
    private final Server server = store.cluster().servers().get(0);

    private int cache(String name) {
        return store.cluster().session().catalogue().create(name, new byte[0]).id();
    }

    private void put(int cache, String key) {
        final byte[] name = bytes(key);
        final Request put = new Request().put(cache, name, 0, name.length, name, 0, name.length);
        final long seed = store.cluster().configuration().hashSeed();
        put.placed(new KeyHash(seed).hash(cache, name, 0, name.length), 0);
        server.requests().call(put);
        assertThat(put.status()).isEqualTo(Status.OK);
    }

    /** A put into a full store is refused after two quiet cycles. */
    @Test
    void shouldCountNoTurnInWhichAnEvictionIsYetToFindItsObjects() {
        final int limited = cache("limited");
        final int others = cache("others");
        for (int i = 0; i < OTHERS; i++) {
            put(others, "k" + i);
        }
        for (int i = 0; i < LIMITED; i++) {
            put(limited, "k" + i);
        }
        store.settle();
        store.cluster().session().catalogue().limit("limited", new CacheLimit(LIMITED / 2, 0));

        int atWork = 0;
        for (int i = 0; i < CYCLES && server.limits().evictions(limited) == 0; i++) {
            final long before = server.quietCycles();
            store.agents().step(1);
            if (server.isEndingObjects() && server.limits().evictions(limited) == 0) {
                atWork++;
                assertThat(server.quietCycles()).isEqualTo(before);
            }
        }
        assertThat(server.limits().evictions(limited)).isPositive();
        assertThat(atWork).as("cycles in which it looked for objects").isPositive();

        store.settle();
        final long settled = server.quietCycles();
        store.agents().step(CYCLES);
        assertThat(server.quietCycles()).isGreaterThan(settled);
    }
}
