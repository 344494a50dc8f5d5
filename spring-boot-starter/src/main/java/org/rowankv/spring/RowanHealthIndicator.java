package org.rowankv.spring;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import javax.cache.CacheManager;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.runtime.concurrent.DetachedThread;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;

/**
 * UP while the store answers a read within two seconds; DOWN if it has failed or is closed, or the servers are not reached.
 * A probe does not wait as long as an operation of the application does; one that is late is continued by the next probes.
 * Thread-safe.
 */
final class RowanHealthIndicator extends AbstractHealthIndicator {
    /** No key of JCache is encoded so. */
    private static final byte[] NO_KEY = {0};

    private static final long LIMIT_MS = 2_000;

    private final CacheManager manager;
    private final long limitMs;
    private final ReentrantLock lock = new ReentrantLock();
    /** The newest read; guarded by the lock. */
    private @Nullable CompletableFuture<Integer> read;

    RowanHealthIndicator(CacheManager manager) {
        this(manager, LIMIT_MS);
    }

    RowanHealthIndicator(CacheManager manager, long limitMs) {
        super("the caches cannot be reached");
        this.manager = manager;
        this.limitMs = limitMs;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) throws Exception {
        if (manager.isClosed()) {
            builder.down().withDetail("error", "the cache manager is closed");
            return;
        }
        builder.withDetail("uri", String.valueOf(manager.getURI()));
        try {
            builder.up().withDetail("caches", newestRead().get(limitMs, TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            builder.down().withDetail("error", "no answer within " + limitMs + " ms");
        }
    }

    private CompletableFuture<Integer> newestRead() {
        lock.lock();
        try {
            CompletableFuture<Integer> newest = read;
            if (newest == null || newest.isDone()) {
                final CompletableFuture<Integer> begun = new CompletableFuture<>();
                DetachedThread.of(() -> complete(begun), "rowan-health").start();
                newest = begun;
                read = begun;
            }
            return newest;
        } finally {
            lock.unlock();
        }
    }

    private void complete(CompletableFuture<Integer> begun) {
        try {
            begun.complete(countCaches());
        } catch (Throwable e) { // any failure of a read is bad health
            begun.completeExceptionally(e);
        }
    }

    private int countCaches() {
        final RowanClient client = manager.unwrap(RowanClient.class);
        final List<Catalogue.CacheRecord> caches = client.catalogue().list();
        if (!caches.isEmpty()) {
            client.get(caches.get(0).id(), NO_KEY); // a store that has failed still knows its caches
        }
        return caches.size();
    }
}
