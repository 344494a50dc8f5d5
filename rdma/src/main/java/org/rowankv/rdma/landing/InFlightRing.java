package org.rowankv.rdma.landing;

import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.CompletionStatus;

/**
 * Ring of a queue pair's operations in flight, by sequence number from 1: posted, and their completions not yet polled.
 * Allocated once. Owned by the pair's owner.
 */
final class InFlightRing {
    private final long[] contexts;
    private final int mask;
    private long added;
    private long polled;

    InFlightRing(int capacity) {
        this.contexts = new long[capacity];
        this.mask = capacity - 1;
    }

    boolean hasRoom() {
        return added - polled <= mask;
    }

    void add(long context) {
        added++;
        contexts[(int) added & mask] = context;
    }

    /** Delivers acknowledged completions, and all others when the pair has ended. The handler may post. */
    int poll(CompletionHandler handler, int limit, AckReader reader) {
        int count = 0;
        while (count < limit && polled != added) {
            // The end first: it makes earlier acknowledgements visible.
            final QueuePairEnd end = reader.end();
            final int status;
            if (polled < reader.acknowledged()) {
                status = CompletionStatus.LANDED;
            } else if (end == null) {
                break;
            } else {
                status = end.statusOf(polled + 1);
            }
            polled++;
            final long context = contexts[(int) polled & mask];
            count++;
            handler.onCompletion(context, status);
        }
        return count;
    }
}
