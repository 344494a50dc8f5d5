package org.rowankv.jcache.management;

import javax.cache.management.CacheStatisticsMXBean;

/** The statistics of one opening of a cache, as JMX shows them. */
public final class StatisticsBean implements CacheStatisticsMXBean {
    private final Statistics statistics;

    public StatisticsBean(Statistics statistics) {
        this.statistics = statistics;
    }

    @Override
    public void clear() {
        statistics.clear();
    }

    @Override
    public long getCacheHits() {
        return statistics.hits();
    }

    @Override
    public float getCacheHitPercentage() {
        return percentage(statistics.hits());
    }

    @Override
    public long getCacheMisses() {
        return statistics.misses();
    }

    @Override
    public float getCacheMissPercentage() {
        return percentage(statistics.misses());
    }

    private float percentage(long part) {
        final long gets = getCacheGets();
        return gets == 0 ? 0 : (float) (100.0 * part / gets);
    }

    @Override
    public long getCacheGets() {
        return statistics.hits() + statistics.misses();
    }

    @Override
    public long getCachePuts() {
        return statistics.puts();
    }

    @Override
    public long getCacheRemovals() {
        return statistics.removals();
    }

    /** None, unless the cache has a limit. */
    @Override
    public long getCacheEvictions() {
        return statistics.evictions();
    }

    @Override
    public float getAverageGetTime() {
        return statistics.averageGetMicros();
    }

    @Override
    public float getAveragePutTime() {
        return statistics.averagePutMicros();
    }

    @Override
    public float getAverageRemoveTime() {
        return statistics.averageRemoveMicros();
    }
}
