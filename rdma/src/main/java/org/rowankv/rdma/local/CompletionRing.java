package org.rowankv.rdma.local;

import org.rowankv.rdma.CompletionHandler;

/** Completions of one queue pair that wait to be polled. Owned by the pair's worker; allocated once. */
final class CompletionRing {
    private final long[] contexts;
    private final byte[] statuses;
    private final int mask;
    private long added;
    private long polled;

    CompletionRing(int capacity) {
        this.contexts = new long[capacity];
        this.statuses = new byte[capacity];
        this.mask = capacity - 1;
    }

    boolean isFull() {
        return added - polled > mask;
    }

    void add(long context, int status) {
        final int at = (int) added & mask;
        contexts[at] = context;
        statuses[at] = (byte) status;
        added++;
    }

    /** The handler may post, and so add, meanwhile; what it adds may be handed out by the same call. */
    int poll(CompletionHandler handler, int limit) {
        int count = 0;
        while (count < limit && polled != added) {
            final int at = (int) polled & mask;
            final long context = contexts[at];
            final int status = statuses[at];
            polled++;
            count++;
            handler.onCompletion(context, status);
        }
        return count;
    }
}
