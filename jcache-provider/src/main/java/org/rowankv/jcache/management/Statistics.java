package org.rowankv.jcache.management;

import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.rowankv.runtime.Clock;

/**
 * Counters of an open cache and their MXBean: exact once an operation has returned, and active only while enabled.
 * Thread-safe.
 *
 * <p>A timed operation calls {@link #start} first and passes the result to the counting method: with statistics off
 * neither reads the clock.
 */
public final class Statistics implements RowanCacheStatisticsMXBean {
    private final Clock clock;
    private final LongAdder hits = new LongAdder();
    private final LongAdder nearHits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder puts = new LongAdder();
    private final LongAdder removals = new LongAdder();
    private final LongAdder getNs = new LongAdder();
    private final LongAdder putNs = new LongAdder();
    private final LongAdder removeNs = new LongAdder();
    /** Evictions of the cache so far; counted by the store. */
    private final LongSupplier evictedEver;

    /** Held while the servers are asked for the evictions. */
    private final ReentrantLock evictions = new ReentrantLock();

    private long evictedBefore;
    private long evictedWhenEnabled;
    private volatile boolean enabled;

    /** @param evictedEver evictions of the cache so far; monotonic */
    public Statistics(Clock clock, LongSupplier evictedEver) {
        this.clock = clock;
        this.evictedEver = evictedEver;
    }

    public boolean isEnabled() {
        return enabled;
    }

    public void enable(boolean newEnabled) {
        evictions.lock();
        try {
            if (newEnabled != enabled) {
                evictedBefore = getCacheEvictions();
                evictedWhenEnabled = evictedEver.getAsLong();
                enabled = newEnabled;
            }
        } finally {
            evictions.unlock();
        }
    }

    /** Start time of an operation; 0 while disabled. */
    public long start() {
        return enabled ? clock.nanoTime() : 0;
    }

    private long since(long startNs) {
        return startNs == 0 ? 0 : Math.max(0, clock.nanoTime() - startNs);
    }

    public void got(boolean hit, long startNs) {
        if (enabled) {
            (hit ? hits : misses).increment();
            getNs.add(since(startNs));
        }
    }

    /** Counts a read that the near cache has answered, which is counted as a hit besides. */
    public void nearHit() {
        if (enabled) {
            nearHits.increment();
        }
    }

    /** Counts a bulk read. */
    public void got(long hitCount, long missCount, long startNs) {
        if (enabled) {
            hits.add(hitCount);
            misses.add(missCount);
            getNs.add(since(startNs));
        }
    }

    public void put(long startNs) {
        if (enabled) {
            puts.increment();
            putNs.add(since(startNs));
        }
    }

    public void removed(long startNs) {
        if (enabled) {
            removals.increment();
            removeNs.add(since(startNs));
        }
    }

    @Override
    public void clear() {
        evictions.lock();
        try {
            evictedBefore = 0;
            evictedWhenEnabled = evictedEver.getAsLong();
            hits.reset();
            nearHits.reset();
            misses.reset();
            puts.reset();
            removals.reset();
            getNs.reset();
            putNs.reset();
            removeNs.reset();
        } finally {
            evictions.unlock();
        }
    }

    @Override
    public long getCacheHits() {
        return hits.sum();
    }

    @Override
    public long getNearCacheHits() {
        return nearHits.sum();
    }

    @Override
    public float getCacheHitPercentage() {
        return percentage(getCacheHits());
    }

    @Override
    public long getCacheMisses() {
        return misses.sum();
    }

    @Override
    public float getCacheMissPercentage() {
        return percentage(getCacheMisses());
    }

    private float percentage(long part) {
        final long gets = getCacheGets();
        return gets == 0 ? 0 : (float) (100.0 * part / gets);
    }

    @Override
    public long getCacheGets() {
        return getCacheHits() + getCacheMisses();
    }

    @Override
    public long getCachePuts() {
        return puts.sum();
    }

    @Override
    public long getCacheRemovals() {
        return removals.sum();
    }

    /** 0 unless the cache has a limit. */
    @Override
    public long getCacheEvictions() {
        evictions.lock();
        try {
            return evictedBefore + (enabled ? evictedEver.getAsLong() - evictedWhenEnabled : 0);
        } finally {
            evictions.unlock();
        }
    }

    @Override
    public float getAverageGetTime() {
        return averageMicros(getNs, getCacheGets());
    }

    @Override
    public float getAveragePutTime() {
        return averageMicros(putNs, getCachePuts());
    }

    @Override
    public float getAverageRemoveTime() {
        return averageMicros(removeNs, getCacheRemovals());
    }

    private static float averageMicros(LongAdder totalNs, long count) {
        return count == 0 ? 0 : (float) (totalNs.sum() / 1_000.0 / count);
    }
}
