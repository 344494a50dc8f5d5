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
 * Queues per key within this JVM. For entry processors a gate is a hint that spares lost attempts: whoever has waited
 * for 10 ms goes on without, since versions decide anyway. For write-through it keeps writer and store in the same order.
 *
 * <p>Who comes to an open gate enters, whoever queues there: handing every turn over to a thread that has to wake up first
 * would cost most of the rate. But once somebody has queued for {@link #PATIENCE_MS} all queue behind, until the turn of
 * those that waited so long has come.
 *
 * <p>A thread inside a callback passes every gate at once, so that no two callbacks wait for each other in a circle.
 * Thread-safe; a gate exists while somebody stands at it.
 */
public final class KeyedLocks {
    private static final long HINT_MS = 10;
    private static final long PATIENCE_MS = 7;

    /** One key's queue. */
    public static final class Gate {
        private final KeyBytes key;
        private final ReentrantLock lock = new ReentrantLock(true);
        /** How many have run out of patience. */
        private final AtomicInteger impatient = new AtomicInteger();
        /** Guarded by the map. */
        private int users;

        private Gate(KeyBytes key) {
            this.key = key;
        }

        /** Enters if the gate is open and nobody has waited too long: the one entrance that does not queue. */
        private boolean tryEnter() {
            return impatient.get() == 0 && lock.tryLock();
        }

        private boolean tryEnterWithinHint() throws InterruptedException {
            if (tryEnter() || lock.tryLock(PATIENCE_MS, TimeUnit.MILLISECONDS)) {
                return true;
            }
            impatient.incrementAndGet();
            try {
                return lock.tryLock(HINT_MS - PATIENCE_MS, TimeUnit.MILLISECONDS);
            } finally {
                impatient.decrementAndGet();
            }
        }
    }

    private final Map<KeyBytes, Gate> gates = new ConcurrentHashMap<>();
    private final CallbackThreads callbacks;

    KeyedLocks(CallbackThreads callbacks) {
        this.callbacks = callbacks;
    }

    /** Whether somebody stands at the key's gate. */
    public boolean isBusy(byte[] key) {
        return !gates.isEmpty() && gates.containsKey(new KeyBytes(key));
    }

    /** Enters, waiting a little if need be; null when the caller goes on without. */
    @Nullable
    public Gate enterAsHint(byte[] key) {
        if (callbacks.isCurrentInside()) {
            return null;
        }
        final Gate gate = standAt(key);
        boolean entered = false;
        try {
            entered = gate.tryEnterWithinHint();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // for the caller; the attempt itself goes on without the gate
        } finally {
            if (!entered) {
                stepBack(gate);
            }
        }
        return entered ? gate : null;
    }

    /** Enters however long it takes; null when the caller is inside a callback and goes on without. */
    @Nullable
    public Gate enter(byte[] key) {
        if (callbacks.isCurrentInside()) {
            return null;
        }
        final Gate gate = standAt(key);
        if (!gate.tryEnter()) {
            gate.lock.lock();
        }
        return gate;
    }

    public void leave(@Nullable Gate gate) {
        if (gate != null) {
            gate.lock.unlock();
            stepBack(gate);
        }
    }

    private Gate standAt(byte[] key) {
        return gates.compute(new KeyBytes(key), (bytes, present) -> {
            final Gate gate = present == null ? new Gate(bytes) : present;
            gate.users++;
            return gate;
        });
    }

    private void stepBack(Gate gate) {
        gates.computeIfPresent(gate.key, (bytes, present) -> --present.users == 0 ? null : present);
    }
}
