package org.rowankv.jcache.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.event.CallbackThreads;
import org.rowankv.jcache.event.KeyBytes;

/**
 * Barging locks per key within this JVM. For entry processors a lock is a hint that avoids lost attempts: a caller
 * proceeds without it after 10 ms, because versions decide anyway. For write-through it keeps writer and store in the
 * same order.
 *
 * <p>A free lock is acquired regardless of waiters: strict FIFO hand-off costs a context switch per turn. Once a caller
 * has waited for {@link #STARVED_MS}, all callers queue until the starved ones have had their turns.
 *
 * <p>A thread inside a callback acquires no lock, so that callbacks cannot deadlock. Thread-safe; a lock exists while
 * it has users.
 */
public final class KeyedLocks {
    private static final long HINT_MS = 10;
    private static final long STARVED_MS = 7;

    /** The lock of one key. */
    public static final class KeyLock {
        private final KeyBytes key;
        private final ReentrantLock lock = new ReentrantLock(true);
        /** Number of starved waiters. */
        private final AtomicInteger starved = new AtomicInteger();
        /** Guarded by the map. */
        private int users;

        private KeyLock(KeyBytes key) {
            this.key = key;
        }

        /** Acquires a free lock without queueing, unless a waiter is starved. */
        private boolean tryBarge() {
            return starved.get() == 0 && lock.tryLock();
        }

        private boolean tryLockAsHint() throws InterruptedException {
            if (tryBarge() || lock.tryLock(STARVED_MS, TimeUnit.MILLISECONDS)) {
                return true;
            }
            starved.incrementAndGet();
            try {
                return lock.tryLock(HINT_MS - STARVED_MS, TimeUnit.MILLISECONDS);
            } finally {
                starved.decrementAndGet();
            }
        }
    }

    private final Map<KeyBytes, KeyLock> locks = new ConcurrentHashMap<>();
    private final CallbackThreads callbacks;

    KeyedLocks(CallbackThreads callbacks) {
        this.callbacks = callbacks;
    }

    /** Whether the key's lock has users. */
    public boolean isBusy(byte[] key) {
        return !locks.isEmpty() && locks.containsKey(new KeyBytes(key));
    }

    /** Acquires the lock within a short time; null if the caller proceeds without it. */
    @Nullable
    public KeyLock lockAsHint(byte[] key) {
        if (callbacks.isCurrentInside()) {
            return null;
        }
        final KeyLock keyLock = retain(key);
        boolean locked = false;
        try {
            locked = keyLock.tryLockAsHint();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // for the caller; the attempt proceeds without the lock
        } finally {
            if (!locked) {
                release(keyLock);
            }
        }
        return locked ? keyLock : null;
    }

    /** Acquires the lock without a time limit; null inside a callback, which proceeds without it. */
    @Nullable
    public KeyLock lock(byte[] key) {
        if (callbacks.isCurrentInside()) {
            return null;
        }
        final KeyLock keyLock = retain(key);
        if (!keyLock.tryBarge()) {
            keyLock.lock.lock();
        }
        return keyLock;
    }

    public void unlock(@Nullable KeyLock keyLock) {
        if (keyLock != null) {
            keyLock.lock.unlock();
            release(keyLock);
        }
    }

    private KeyLock retain(byte[] key) {
        return locks.compute(new KeyBytes(key), (bytes, present) -> {
            final KeyLock keyLock = present == null ? new KeyLock(bytes) : present;
            keyLock.users++;
            return keyLock;
        });
    }

    private void release(KeyLock keyLock) {
        locks.computeIfPresent(keyLock.key, (bytes, present) -> --present.users == 0 ? null : present);
    }
}
