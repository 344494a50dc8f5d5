package org.rowankv.rdma.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.Loopback;

/**
 * The threads of sender and NIC agent allocate nothing per message, only a little per batch, that is per write of a
 * thread that is no event loop and per read. Without the chaos points, as in production.
 */
@Tag("races")
@Tag("jvm")
final class TcpAllocationTest {
    private static final int SEGMENT = 1 << 20;
    private static final int WARM_UP = 60_000;
    private static final int MESSAGES = 40_000;
    private static final int WINDOW = 200;
    /** Half of what one small object for each message would take. */
    private static final long ALLOWED = 8L * MESSAGES;

    private final long[] completed = {0};
    private final CompletionHandler counting = (context, status) -> completed[0]++;

    @Test
    void shouldAllocateNothingPerMessage() {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (LandingFabric fabric = Loopback.fabric()) {
            final TestServer receiver = TestServer.open(fabric, 1, 32, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, 4096);
            receiver.postAll();
            final QueuePair pair = sender.connectTo(receiver);
            final ByteBuffer entry = new Entries().make(1, 192);
            run(pair, entry, WARM_UP);
            final long nic = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("rowan-nic"))
                    .findFirst()
                    .orElseThrow()
                    .getId();
            final long me = Thread.currentThread().getId();
            final long mineBefore = threads.getThreadAllocatedBytes(me);
            final long nicBefore = threads.getThreadAllocatedBytes(nic);
            run(pair, entry, MESSAGES);
            final long mine = threads.getThreadAllocatedBytes(me) - mineBefore;
            final long nics = threads.getThreadAllocatedBytes(nic) - nicBefore;
            System.out.println(
                    "tcp allocation: sender " + mine + " bytes, nic " + nics + " bytes for " + MESSAGES + " messages");
            assertThat(mine).isLessThan(ALLOWED);
            assertThat(nics).isLessThan(ALLOWED);
        }
    }

    /** The same where the owner does the I/O of its queue pair, and per poll of it. */
    @Test
    void shouldAllocateNothingPerPoll() {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        final TcpIoPoller io = new TcpIoPoller();
        io.own();
        try (LandingFabric fabric = Loopback.fabric()) {
            final TestServer receiver = TestServer.open(fabric, 1, 32, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, 4096);
            receiver.postAll();
            final CompletableFuture<QueuePair> opening = sender.endpoint().connectAsync(1, 1, 1, io);
            while (!opening.isDone()) {
                io.await(Long.MAX_VALUE);
            }
            final QueuePair pair = opening.join();
            final ByteBuffer entry = new Entries().make(1, 192);
            run(pair, entry, WARM_UP, io);
            final long me = Thread.currentThread().getId();
            final long before = threads.getThreadAllocatedBytes(me);
            run(pair, entry, MESSAGES, io);
            for (int i = 0; i < MESSAGES; i++) {
                io.poll();
            }
            final long mine = threads.getThreadAllocatedBytes(me) - before;
            System.out.println(
                    "tcp allocation: owner " + mine + " bytes for " + MESSAGES + " messages, and as many turns");
            assertThat(mine).isLessThan(ALLOWED);
        } finally {
            io.close();
        }
    }

    private void run(QueuePair pair, ByteBuffer entry, int count) {
        run(pair, entry, count, null);
    }

    /** In whole windows, so that a batch has many messages under any scheduling. */
    private void run(QueuePair pair, ByteBuffer entry, int count, @Nullable IoPoller io) {
        completed[0] = 0;
        for (int posted = 0; posted < count; ) {
            for (int end = posted + WINDOW; posted < end; ) {
                if (pair.send(posted, entry, 0, 192, 0) == PostStatus.POSTED) {
                    posted++;
                } else {
                    if (io != null) {
                        io.poll();
                    }
                    pair.poll(counting, WINDOW);
                }
            }
            while (completed[0] < posted) {
                if (io != null) {
                    io.poll();
                }
                pair.poll(counting, WINDOW);
            }
        }
    }
}
