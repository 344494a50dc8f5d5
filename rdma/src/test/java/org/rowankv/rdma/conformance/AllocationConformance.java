package org.rowankv.rdma.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.verbs.Wire;

/**
 * Sender and NIC agent allocate nothing per append; only a little per batch, that is per write of a thread that is no
 * event loop. Over a device that allocates nothing.
 */
public abstract class AllocationConformance {
    private static final int SEGMENT = 1 << 20;
    private static final int WARM_UP = 60_000;
    private static final int MESSAGES = 40_000;
    private static final int WINDOW = 200;
    /** Half of what one small object for each message would take. */
    private static final long ALLOWED = 8L * MESSAGES;

    private final long[] completed = {0};
    private final CompletionHandler counting = (context, status) -> completed[0]++;

    /** A fabric on that device. */
    protected abstract Fabric open(Wire device);

    @Test
    protected void shouldAllocateLessThanAnObjectPerAppend() {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Fabric fabric = open(new Wire())) {
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
                    "rdma allocation: sender " + mine + " bytes, nic " + nics + " bytes for " + MESSAGES + " messages");
            assertThat(mine).isLessThan(ALLOWED);
            assertThat(nics).isLessThan(ALLOWED);
        }
    }

    /** In whole windows, so that a batch has many messages under any scheduling. */
    private void run(QueuePair pair, ByteBuffer entry, int count) {
        completed[0] = 0;
        for (int posted = 0; posted < count; ) {
            for (int end = posted + WINDOW; posted < end; ) {
                if (pair.send(posted, entry, 0, 192, 0) == PostStatus.POSTED) {
                    posted++;
                } else {
                    pair.poll(counting, WINDOW);
                }
            }
            while (completed[0] < posted) {
                pair.poll(counting, WINDOW);
            }
        }
    }
}
