package org.rowankv.jcache.cluster;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.jcache.store.Store;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.concurrent.DetachedThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Store whose servers could not be reached when it was opened. A thread tries again every second until they are, or until
 * the store closes; from then on it is as any other. Thread-safe.
 */
final class LazyClusterStore implements Store {
    private static final Logger LOG = LoggerFactory.getLogger(LazyClusterStore.class);
    private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

    private final Supplier<RowanClient> connector;
    private final String servers;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition closing = lock.newCondition();
    private volatile @Nullable ClusterStore connected;
    private volatile RuntimeException last;
    private volatile boolean closed;

    /**
     * @param connector throws RowanException if no server is reached
     * @param servers for messages
     * @param first failure to reach one
     */
    LazyClusterStore(Supplier<RowanClient> connector, String servers, RowanException first) {
        this.connector = connector;
        this.servers = servers;
        this.last = first;
    }

    /** Begins to connect. */
    void start() {
        LOG.warn(
                "ROWAN-1113 The {} is unreachable at the start, and caches miss until it is reached reason={}",
                servers,
                last.getMessage());
        DetachedThread.of(this::connect, "rowan-lazy-start").start();
    }

    private void connect() {
        while (!closed && connected == null) {
            try {
                take(connector.get());
            } catch (RuntimeException e) {
                last = e;
                pause();
            }
        }
    }

    private void take(RowanClient client) {
        lock.lock();
        try {
            if (closed) {
                client.close();
            } else {
                connected = new ClusterStore(client);
                LOG.info("Cluster reached servers={}", servers);
            }
        } finally {
            lock.unlock();
        }
    }

    private void pause() {
        lock.lock();
        try {
            long leftNs = PAUSE_NS;
            while (!closed && leftNs > 0) {
                leftNs = closing.awaitNanos(leftNs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            closed = true;
        } finally {
            lock.unlock();
        }
    }

    private Store required() {
        final Store store = connected;
        if (store == null) {
            throw new CacheException(
                    "the " + servers + " has not been reached since the start, which start=lazy allows: "
                            + last.getMessage(),
                    last);
        }
        return store;
    }

    @Override
    public boolean isConnected() {
        return connected != null;
    }

    @Override
    public RowanClient client() {
        return required().client();
    }

    @Override
    public String durability() {
        return required().durability();
    }

    @Override
    public Clock clock() {
        return SystemClock.INSTANCE;
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        return null;
    }

    @Override
    public void close() {
        final Store store;
        lock.lock();
        try {
            closed = true;
            closing.signalAll();
            store = connected;
        } finally {
            lock.unlock();
        }
        if (store != null) {
            store.close();
        }
    }
}
