package org.rowankv.server.replication;

import java.util.concurrent.atomic.AtomicLongArray;
import org.rowankv.protocol.Version;

/**
 * The versions that workers have taken and not finished, one slot per worker: from these CommitVer is computed (§4.4 of
 * the paper). A worker publishes a lower bound before it takes a version, so that no version can be overtaken by a
 * CommitVer computed in between: whoever reads a shard's counter first and the slots second finds, of every version up
 * to that counter, either the bound or its completion.
 *
 * <p>It also holds back who is far ahead of somebody in flight. As long as that one's version is not on all replicas, CommitVer
 * stays behind it, and no segment of a backup log with younger versions can be cleaned: those who go on could fill the
 * backups, with what is dead already, so that there is no place left for the one that everybody waits for. Time is
 * divided in laps. Each worker writes some bytes in a lap, and a lap ends only when nobody is in flight who began before it.
 *
 * <h2>Memory order</h2>
 *
 * The owner of a slot writes {@code BOUND = 0} (release), then {@code SHARD} and {@code LAP} of its next version (release), then
 * its {@code BOUND} (volatile). A reader reads {@code BOUND} (volatile), then {@code SHARD} or {@code LAP} (acquire).
 *
 * <p>So a reader of a bound reads the shard and lap of that bound, or of a later version of the slot. The latter is harmless: a
 * later shard or lap was written behind all that the version of the bound has done, and the acquire makes the reader see all of it.
 * That version is finished, and need not hold back its own shard or lap. It holds back the later shard by mistake, which only
 * lowers a value that is computed again, and of which the maximum counts.
 *
 * <p>With plain writes, a weakly ordered processor could show the next shard before the effects of the version before, such as what
 * was handed to a change stream.
 */
public final class InFlightWindow {
    private static final int PADDING = 16; // longs between slots
    private static final int BOUND = 0;
    private static final int SHARD = 1;
    private static final int LAP = 2;

    private final AtomicLongArray slots;
    private final int count;
    private final long bytesPerLap;
    /** Behind the slots, so that it shares no cache line with one: read by everybody, seldom written. */
    private final int lapAt;

    public InFlightWindow(int workers) {
        this(workers, Long.MAX_VALUE);
    }

    /** @param bytesPerLap that each worker may write in a lap; one entry in any case */
    public InFlightWindow(int workers, long bytesPerLap) {
        this.count = workers;
        this.bytesPerLap = bytesPerLap;
        this.slots = new AtomicLongArray((workers + 2) * PADDING);
        this.lapAt = (workers + 1) * PADDING;
    }

    public long bytesPerLap() {
        return bytesPerLap;
    }

    public long lap() {
        return slots.get(lapAt);
    }

    /** Ends a lap, unless somebody is in flight who began before it; true when it is over. */
    public boolean advanceWindow(long lap) {
        for (int slot = 0; slot < count; slot++) {
            if (slots.get(slot * PADDING + BOUND) != 0 && slots.getAcquire(slot * PADDING + LAP) < lap) {
                return false;
            }
        }
        slots.compareAndSet(lapAt, lap, lap + 1);
        return true;
    }

    /** Before the version is taken. */
    public void announce(int slot, int shard, long lowerBound) {
        slots.setRelease(slot * PADDING + SHARD, shard); // behind all that its last version did
        slots.setRelease(slot * PADDING + LAP, slots.get(lapAt));
        slots.set(slot * PADDING + BOUND, lowerBound); // volatile: before the counter is incremented
    }

    /** After it is taken. */
    public void exact(int slot, long version) {
        slots.setRelease(slot * PADDING + BOUND, version);
    }

    /** Its entry is on all replicas, or there is none of that version. */
    public void finished(int slot) {
        slots.setRelease(slot * PADDING + BOUND, 0);
    }

    /**
     * A version of a shard up to which nothing is in flight.
     *
     * @param last the shard's counter, read before this is called
     */
    public long finished(int shard, long last) {
        long smallest = last;
        for (int slot = 0; slot < count; slot++) {
            final long bound = slots.get(slot * PADDING + BOUND);
            if (bound != 0 && (int) slots.getAcquire(slot * PADDING + SHARD) == shard) {
                smallest = Math.min(smallest, Version.before(bound));
            }
        }
        return smallest;
    }

    /** Lowers {@code smallest}, which holds the shards' counters, below every version in flight. */
    public void lower(long[] smallest) {
        for (int slot = 0; slot < count; slot++) {
            final long bound = slots.get(slot * PADDING + BOUND);
            if (bound != 0) {
                final int shard = (int) slots.getAcquire(slot * PADDING + SHARD);
                smallest[shard] = Math.min(smallest[shard], Version.before(bound));
            }
        }
    }
}
