package org.rowankv.jcache.management;

import javax.cache.management.CacheStatisticsMXBean;

/** The JSR's statistics of a cache, and those of this provider. Thread-safe. */
public interface RowanCacheStatisticsMXBean extends CacheStatisticsMXBean {
    /** Of the hits, those answered by a value kept in this JVM: with {@code near = validated}; else 0. */
    long getNearCacheHits();
}
