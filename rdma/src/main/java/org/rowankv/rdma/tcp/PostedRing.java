package org.rowankv.rdma.tcp;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.CompletionStatus;

/**
 * The operations of one queue pair that were posted and whose completions were not polled, by sequence number from 1.
 * Allocated once. Owned by the pair's owner; where a READ's bytes go is looked up by the event loop too, of operations
 * that were posted and are not acknowledged: posting is published by {@link PairReader#posted}.
 */
final class PostedRing {
    private final long[] contexts;
    private final @Nullable ByteBuffer[] targets;
    private final int[] offsets;
    private final int[] lengths;
    /** By slot, the READ whose bytes have come. Event loop only. */
    private final long[] served;

    private final int mask;
    private long added;
    private long polled;

    PostedRing(int capacity) {
        this.contexts = new long[capacity];
        this.targets = new @Nullable ByteBuffer[capacity];
        this.offsets = new int[capacity];
        this.lengths = new int[capacity];
        this.served = new long[capacity];
        this.mask = capacity - 1;
    }

    boolean hasRoom() {
        return added - polled <= mask;
    }

    void add(long context, @Nullable ByteBuffer target, int offset, int length) {
        added++;
        final int at = (int) added & mask;
        contexts[at] = context;
        targets[at] = target;
        offsets[at] = offset;
        lengths[at] = length;
    }

    /** Whether a READ is among the operations that were not polled. */
    boolean awaitsBytes() {
        for (long number = polled + 1; number <= added; number++) {
            if (targets[(int) number & mask] != null) {
                return true;
            }
        }
        return false;
    }

    @Nullable
    ByteBuffer target(long number) {
        return targets[(int) number & mask];
    }

    /** The bytes of a READ have come. Event loop only. */
    void serve(long number) {
        served[(int) number & mask] = number;
    }

    /** Whether the operation is no READ, or its bytes have come. Event loop only. */
    boolean isServed(long number) {
        final int at = (int) number & mask;
        return targets[at] == null || served[at] == number;
    }

    int offset(long number) {
        return offsets[(int) number & mask];
    }

    int length(long number) {
        return lengths[(int) number & mask];
    }

    /** Hands out what is acknowledged, and all the rest when the pair has ended. The handler may post. */
    int poll(CompletionHandler handler, int limit, PairReader reader) {
        int count = 0;
        while (count < limit && polled != added) {
            // The end first: what was acknowledged before it is seen with it.
            final PairEnd end = reader.end();
            final int status;
            if (polled < reader.acknowledged()) {
                status = CompletionStatus.LANDED;
            } else if (end == null) {
                break;
            } else {
                status = end.statusOf(polled + 1);
            }
            polled++;
            final int at = (int) polled & mask;
            targets[at] = null;
            final long context = contexts[at];
            count++;
            handler.onCompletion(context, status);
        }
        return count;
    }
}
