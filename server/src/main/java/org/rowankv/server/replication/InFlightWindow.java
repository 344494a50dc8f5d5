package org.rowankv.server.replication;

import java.util.concurrent.atomic.AtomicLongArray;
import org.rowankv.protocol.Version;

/**
 * The versions that workers have taken and not finished, one slot per worker; CommitVer is computed from these (§4.4 of
 * the paper). A worker publishes a lower bound before it takes a version, so no CommitVer computed in between can pass
 * that version. A reader reads a shard's counter first and the slots second. Then, for every version up to that
 * counter, it finds either the bound or the completion.
 *
 * <p>It also provides back-pressure against a worker far ahead of another one in flight. While a version is not on all
 * replicas, CommitVer stays below it, and no backup-log segment with younger versions can be cleaned. Faster workers
 * could fill the backups with dead entries, until there is no room left for the one version that blocks CommitVer. So
 * time is divided into numbered windows. Each worker writes a bounded number of bytes per window. A window ends only
 * when no worker is in flight that began before it.
 *
 * <h2>Memory order</h2>
 *
 * The owner of a slot writes {@code BOUND = 0} (release), then {@code SHARD} and {@code WINDOW} of its next version
 * (release), then its {@code BOUND} (volatile). A reader reads {@code BOUND} (volatile), then {@code SHARD} or {@code
 * WINDOW} (acquire).
 *
 * <p>So a reader of a bound reads the shard and window of that bound, or of a later version of the slot. The latter is
 * harmless: a later shard or window was written after all effects of the bound's version, and the acquire makes them
 * visible. That version is finished, and need not hold back its own shard or window. It holds back the later shard
 * unnecessarily, which only lowers a value that is computed again and whose maximum counts.
 *
 * <p>With plain writes, a weakly ordered processor could show the next shard before the effects of the previous
 * version, such as its change-stream entry.
 */
public final class InFlightWindow {
    private static final int PADDING = 16; // longs between slots
    private static final int BOUND = 0;
    private static final int SHARD = 1;
    private static final int WINDOW = 2;

    private final AtomicLongArray slots;
    private final int count;
    private final long bytesPerWindow;
    /** After the slots, so that it shares no cache line with one: read by all workers, seldom written. */
    private final int windowAt;

    public InFlightWindow(int workers) {
        this(workers, Long.MAX_VALUE);
    }

    /** @param bytesPerWindow that each worker may write in a window; one entry in any case */
    public InFlightWindow(int workers, long bytesPerWindow) {
        this.count = workers;
        this.bytesPerWindow = bytesPerWindow;
        this.slots = new AtomicLongArray((workers + 2) * PADDING);
        this.windowAt = (workers + 1) * PADDING;
    }

    public long bytesPerWindow() {
        return bytesPerWindow;
    }

    public long window() {
        return slots.get(windowAt);
    }

    /** Ends a window, unless a worker is in flight that began before it; true when it has ended. */
    public boolean advanceWindow(long window) {
        for (int slot = 0; slot < count; slot++) {
            if (slots.get(slot * PADDING + BOUND) != 0 && slots.getAcquire(slot * PADDING + WINDOW) < window) {
                return false;
            }
        }
        slots.compareAndSet(windowAt, window, window + 1);
        return true;
    }

    /** Call before the version is taken. */
    public void announce(int slot, int shard, long lowerBound) {
        slots.setRelease(slot * PADDING + SHARD, shard); // after all effects of its last version
        slots.setRelease(slot * PADDING + WINDOW, slots.get(windowAt));
        slots.set(slot * PADDING + BOUND, lowerBound); // volatile: before the counter is incremented
    }

    /** Call after the version is taken. */
    public void exact(int slot, long version) {
        slots.setRelease(slot * PADDING + BOUND, version);
    }

    /** Its entry is on all replicas, or no entry has that version. */
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

    /** Whether no version of a shard is taken, or may be taken, and unfinished. */
    public boolean isIdle(int shard) {
        return finished(shard, Long.MAX_VALUE) == Long.MAX_VALUE;
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
