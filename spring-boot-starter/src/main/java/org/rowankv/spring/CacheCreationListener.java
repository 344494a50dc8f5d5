package org.rowankv.spring;

import org.springframework.cache.Cache;

/** Called once for each cache that the Spring cache manager opens after its start. Thread-safe. */
@FunctionalInterface
interface CacheCreationListener {
    void created(Cache cache);
}
