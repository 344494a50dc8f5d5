package org.rowankv.jcache.classes;

import java.util.Set;

/**
 * Keys and entries that Spring's caches and Hibernate's second-level cache make themselves, by exact name. They are
 * always allowed: they hold values, each of which is checked by its own class, and run no code but {@code hashCode} of
 * these.
 */
public final class FrameworkClasses {
    private static final Set<String> NAMES = Set.of(
            "org.springframework.cache.interceptor.SimpleKey",
            "org.springframework.cache.support.NullValue",
            "org.hibernate.bytecode.enhance.spi.LazyPropertyInitializer$1", // a marker: UNFETCHED_PROPERTY
            "org.hibernate.cache.internal.BasicCacheKeyImplementation",
            "org.hibernate.cache.internal.CacheKeyImplementation",
            "org.hibernate.cache.internal.NaturalIdCacheKey",
            "org.hibernate.cache.internal.QueryResultsCacheImpl$CacheItem",
            "org.hibernate.cache.spi.QueryKey",
            "org.hibernate.cache.spi.entry.CollectionCacheEntry",
            "org.hibernate.cache.spi.entry.StandardCacheEntryImpl",
            "org.hibernate.cache.spi.support.AbstractReadWriteAccess$Item",
            "org.hibernate.cache.spi.support.AbstractReadWriteAccess$SoftLockImpl",
            "org.hibernate.query.internal.QueryParameterBindingsImpl$ParameterBindingsMementoImpl");

    private FrameworkClasses() {}

    /** Whether the class is one of them. */
    public static boolean contains(String className) {
        return NAMES.contains(className);
    }
}
