package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.frontend.ClientPortSettings;

/** In steady state neither the loop of a client port nor the calling thread allocates per operation. */
@Tag("jvm")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ClientPortAllocationTest {
    private static final int OPERATIONS = 20_000;
    private static final long MOST_BYTES_PER_OPERATION = 4;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static long allocatedBy(long thread) {
        return THREADS.getThreadAllocatedBytes(thread);
    }

    private static long loopThread() {
        for (long id : THREADS.getAllThreadIds()) {
            final var info = THREADS.getThreadInfo(id);
            if (info != null && info.getThreadName().startsWith("rowan-clients-0-")) {
                return id;
            }
        }
        throw new AssertionError("no loop");
    }

    @Test
    void shouldAllocateNothingPerOperation() {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
                    with.servers = 1;
                    with.shards = 2;
                }));
                EmbeddedPorts ports =
                        EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0, with -> with.loops = 1));
                RowanClient client = RowanClient.connect(ports.addresses(), NetSettings.DEFAULT)) {
            final int cache = Stores.cache(client);
            final byte[] key = bytes("key");
            final byte[] value = new byte[100];
            final Request request = new Request();
            final long loop = loopThread();
            final long caller = Thread.currentThread().getId();
            long byLoop = Long.MAX_VALUE;
            long byCaller = Long.MAX_VALUE;
            // The first rounds compile code and grow reused buffers.
            for (int round = 0; round < 10 && (isTooMuch(byLoop) || isTooMuch(byCaller)); round++) {
                final long loopBefore = allocatedBy(loop);
                final long callerBefore = allocatedBy(caller);
                for (int i = 0; i < OPERATIONS; i++) {
                    client.execute(
                            i % 2 == 0
                                    ? request.get(cache, key, 0, key.length)
                                    : request.put(cache, key, 0, key.length, value, 0, value.length));
                    assertStatus(request);
                }
                byLoop = Math.min(byLoop, allocatedBy(loop) - loopBefore);
                byCaller = Math.min(byCaller, allocatedBy(caller) - callerBefore);
            }
            assertThat(byLoop / OPERATIONS).as("bytes by the loop").isLessThan(MOST_BYTES_PER_OPERATION);
            assertThat(byCaller / OPERATIONS).as("bytes by the caller").isLessThan(MOST_BYTES_PER_OPERATION);
        }
    }

    private static boolean isTooMuch(long bytes) {
        return bytes / OPERATIONS >= MOST_BYTES_PER_OPERATION;
    }

    private static void assertStatus(Request request) {
        if (request.status() != Status.OK && request.status() != Status.NOT_FOUND) {
            throw new AssertionError(request.status());
        }
    }
}
