package org.rowankv.rdma.local;

import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.LandingForce;

/** Ring of a queue pair's completions to be polled. Owned by the pair's worker; allocated once. */
final class CompletionRing {
    /** A ticket that is always forced. */
    private static final long ALREADY = 0;

    private final long[] contexts;
    private final byte[] statuses;
    private final long[] tickets;
    /** Force that completions wait for; null: none. */
    private final @Nullable LandingForce force;

    private final int mask;
    private long added;
    private long polled;

    CompletionRing(int capacity, @Nullable LandingForce force) {
        this.contexts = new long[capacity];
        this.statuses = new byte[capacity];
        this.tickets = new long[force == null ? 0 : capacity];
        this.force = force;
        this.mask = capacity - 1;
    }

    boolean isFull() {
        return added - polled > mask;
    }

    void add(long context, int status) {
        final int at = (int) added & mask;
        contexts[at] = context;
        statuses[at] = (byte) status;
        if (force != null) {
            tickets[at] = ALREADY;
        }
        added++;
    }

    /** As {@link #add}; delivered once that ticket is forced. */
    void addForced(long context, int status, long ticket) {
        add(context, status);
        tickets[(int) (added - 1) & mask] = ticket;
    }

    /** The handler may post, and so add completions; the same call may deliver them. */
    int poll(CompletionHandler handler, int limit) {
        int count = 0;
        while (count < limit && polled != added) {
            final int at = (int) polled & mask;
            if (force != null && !force.isForced(tickets[at])) {
                break;
            }
            final long context = contexts[at];
            final int status = statuses[at];
            polled++;
            count++;
            handler.onCompletion(context, status);
        }
        return count;
    }
}
