package org.rowankv.rdma.rowan;

import org.rowankv.rdma.ReceiveQueue;

/**
 * Receiver's end of Rowan: keeps free segments posted, in batches and in address order, so that landing is sequential.
 * It reads the senders' progress, never a message.
 *
 * <p>Owned by the control agent.
 */
public final class RowanReceiver {
    private final ReceiveQueue queue;
    private final SegmentSupplier supplier;
    private final int lowWater;
    private final int[] segments;
    private final int[] generations;

    /**
     * @param lowWater a batch is posted when at most this many segments, the current one included, are ahead
     * @param batch limit of segments per batch; lowWater + batch is at most the endpoint's maxPosted
     */
    public RowanReceiver(ReceiveQueue queue, SegmentSupplier supplier, int lowWater, int batch) {
        if (lowWater < 1 || batch < 1) {
            throw new IllegalArgumentException("lowWater " + lowWater + ", batch " + batch);
        }
        this.queue = queue;
        this.supplier = supplier;
        this.lowWater = lowWater;
        this.segments = new int[batch];
        this.generations = new int[batch];
    }

    /** A batch of at most a sixteenth of a small area, and 64 segments of a large one. */
    public static int batchFor(int segmentCount) {
        return Math.max(1, Math.min(64, segmentCount / 16));
    }

    /** Posted segments with space left, the current one included. */
    public long ahead() {
        return queue.ahead();
    }

    /** Posts a batch if few segments are ahead; returns their number. */
    public int replenish() {
        if (ahead() > lowWater) {
            return 0;
        }
        final int count = supplier.take(segments, generations, segments.length);
        sortByAddress(count);
        int posted = 0;
        while (posted < count && queue.post(segments[posted], generations[posted])) {
            posted++;
        }
        for (int i = posted; i < count; i++) {
            supplier.takeBack(segments[i], generations[i]);
        }
        return posted;
    }

    private void sortByAddress(int count) {
        for (int i = 1; i < count; i++) {
            final int segment = segments[i];
            final int generation = generations[i];
            int at = i;
            while (at > 0 && segments[at - 1] > segment) {
                segments[at] = segments[at - 1];
                generations[at] = generations[at - 1];
                at--;
            }
            segments[at] = segment;
            generations[at] = generation;
        }
    }
}
