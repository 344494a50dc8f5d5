package org.rowankv.server.request;

import java.util.concurrent.atomic.AtomicLongArray;
import org.rowankv.protocol.Version;

/**
 * The versions that workers have taken and not finished, one slot per worker: from these CommitVer is computed (§4.4 of
 * the paper). A worker publishes a lower bound before it takes a version, so that no version can be overtaken by a
 * CommitVer computed in between: whoever reads a shard's counter first and the slots second finds, of every version up
 * to that counter, either the bound or its completion.
 */
public final class InFlight {
    private static final int PADDING = 16; // longs between slots
    private static final int BOUND = 0;
    private static final int SHARD = 1;

    private final AtomicLongArray slots;
    private final int count;

    public InFlight(int workers) {
        this.count = workers;
        this.slots = new AtomicLongArray((workers + 1) * PADDING);
    }

    /** Before the version is taken. */
    void announce(int slot, int shard, long lowerBound) {
        slots.setPlain(slot * PADDING + SHARD, shard);
        slots.set(slot * PADDING + BOUND, lowerBound); // volatile: before the counter is incremented
    }

    /** After it is taken. */
    void exact(int slot, long version) {
        slots.setRelease(slot * PADDING + BOUND, version);
    }

    /** Its entry is on all replicas, or there is none of that version. */
    void finished(int slot) {
        slots.setRelease(slot * PADDING + BOUND, 0);
    }

    /** Lowers {@code smallest}, which holds the shards' counters, below every version in flight. */
    public void lower(long[] smallest) {
        for (int slot = 0; slot < count; slot++) {
            final long bound = slots.get(slot * PADDING + BOUND);
            if (bound != 0) {
                final int shard = (int) slots.getOpaque(slot * PADDING + SHARD);
                smallest[shard] = Math.min(smallest[shard], Version.before(bound));
            }
        }
    }
}
