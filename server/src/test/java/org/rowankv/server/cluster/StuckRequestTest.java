package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.embedded.HurriedClose;
import org.rowankv.server.engine.Server;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** A server that stops while an event loop does not go on with a request that it has begun. */
final class StuckRequestTest {
    private static final int CACHE = 1;
    private static final long HURRY_NS = 50_000_000;

    @TempDir
    Path dir;

    private final AtomicLong hurriedNs = new AtomicLong();

    private final class HurriedClock implements Clock {
        @Override
        public long nanoTime() {
            return SystemClock.INSTANCE.nanoTime() + hurriedNs.get();
        }

        @Override
        public long wallMs() {
            return SystemClock.INSTANCE.wallMs();
        }
    }

    private static Request ownPut(ClusterBed bed, Server server) {
        for (int i = 0; ; i++) {
            final byte[] key = ("key" + i).getBytes(StandardCharsets.UTF_8);
            final long hash = new KeyHash(bed.configuration().hashSeed()).hash(CACHE, key, 0, key.length);
            final int shard = ShardMap.shardOf(hash, bed.configuration().shardCount());
            if (server.isPrimary(shard)) {
                final Request put = new Request().put(CACHE, key, 0, key.length, key, 0, key.length);
                put.placed(hash, shard);
                return put;
            }
        }
    }

    @Test
    void shouldStopAndSayWhichServerHasARequestThatDoesNotEnd() throws Exception {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 8 << 20).with(new HurriedClock())) {
            bed.startAll();
            final Server serving = bed.server(0);
            assertThat(serving.callsOfLoop(0, 1).callOf(ownPut(bed, serving)).step())
                    .as("its backup has not acknowledged yet")
                    .isFalse();
            final ClusterServer server = bed.members.get(0).server;
            HurriedClose.of(server::close, () -> hurriedNs.addAndGet(HURRY_NS));
            assertThat(server.phase()).isEqualTo(StartPhase.FAILED);
            assertThat(server.failure()).hasMessageContaining("an operation on server 0 has not ended");
            assertThat(server.hasStoppedItself()).isTrue();
        }
    }
}
