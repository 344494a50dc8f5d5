package org.rowankv.check.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import org.rowankv.check.client.ClientJvm;
import org.rowankv.runtime.SystemClock;

/**
 * Threads of an application: each puts the next number under a key of its own, and reads it back. Since a key belongs to one
 * shard, the loss of a server stops only the threads whose keys are there. Counts are safe for any thread.
 */
final class FailoverCallers implements AutoCloseable {
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);

    private final CacheManager manager;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong operations = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private final AtomicLong wrong = new AtomicLong();
    private final AtomicLong longestGapNs = new AtomicLong();
    private volatile String lastFailure = "";
    private volatile boolean over;

    FailoverCallers(String uri, int callers) {
        this.manager = ClientJvm.manager(uri);
        final Cache<String, Long> cache = manager.createCache(
                "failover", new MutableConfiguration<String, Long>().setTypes(String.class, Long.class));
        for (int caller = 0; caller < callers; caller++) {
            final String key = "caller " + caller;
            threads.add(new Thread(() -> call(cache, key), key));
        }
        threads.forEach(thread -> thread.setDaemon(true));
    }

    void start() {
        threads.forEach(Thread::start);
    }

    private void call(Cache<String, Long> cache, String key) {
        long beforeNs = SystemClock.INSTANCE.nanoTime();
        long least = 0;
        for (long number = 1; !over; number++) {
            try {
                cache.put(key, number);
                least = number;
                final Long found = cache.get(key);
                if (found == null || found != number) {
                    wrong.incrementAndGet();
                    lastFailure = key + " is " + found + ", and not " + number;
                }
                operations.addAndGet(2);
            } catch (RuntimeException e) {
                failures.incrementAndGet();
                lastFailure = key + " after " + least + ": " + e;
            }
            final long nowNs = SystemClock.INSTANCE.nanoTime();
            longestGapNs.accumulateAndGet(nowNs - beforeNs, Math::max);
            beforeNs = nowNs;
            LockSupport.parkNanos(this, PAUSE_NS);
        }
    }

    long operations() {
        return operations.get();
    }

    /** Operations that ended with an exception. */
    long failures() {
        return failures.get();
    }

    /** Reads that did not return what the same thread had put. */
    long wrong() {
        return wrong.get();
    }

    /** The longest time any thread waited for a put and a get. */
    long longestGapNs() {
        return longestGapNs.get();
    }

    /** The newest failure or wrong value; empty if there is none. */
    String lastFailure() {
        return lastFailure;
    }

    /** Ends the threads; the operations under way are complete then. */
    void end() throws InterruptedException {
        over = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Override
    public void close() {
        over = true;
        manager.close();
    }
}
