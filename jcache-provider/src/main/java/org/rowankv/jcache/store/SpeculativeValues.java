package org.rowankv.jcache.store;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.protocol.Request;

/**
 * Cache of the latest values written by entry processors of this JVM, with their versions: the next run on the same key
 * may start from one without a read. Every result is validated against the version in the store, by the write itself or
 * by a read.
 *
 * <p>A value is used only after a read has confirmed the previous one of that key; a wrong value is removed. So keys
 * that other JVMs also write are normally read.
 *
 * <p>Bounded: 4,096 keys with values, each pair up to 512 bytes, so 2 MiB; 16 KiB without values, and nothing before the
 * first. Thread-safe.
 */
public final class SpeculativeValues {
    private static final int SLOT_BITS = 12;
    private static final int MAX_BYTES = 512;

    /** Null until anything is recorded: most caches see no entry processor. */
    private final AtomicReference<@Nullable AtomicReferenceArray<@Nullable Written>> recorded = new AtomicReference<>();

    /**
     * One write.
     *
     * @param proven whether the store had the previously recorded value of the key
     */
    public record Written(byte[] key, byte[] value, long version, boolean proven) {}

    private static int slotOf(byte[] key) {
        return slotOf(Arrays.hashCode(key));
    }

    private static int slotOf(int hash) {
        return hash * 0x9E3779B9 >>> 32 - SLOT_BITS;
    }

    private @Nullable Written lookUp(byte[] key) {
        final AtomicReferenceArray<@Nullable Written> slots = recorded.get();
        final Written found = slots == null ? null : slots.getAcquire(slotOf(key));
        return found != null && Arrays.equals(found.key, key) ? found : null;
    }

    /** The likely value of the key, or null. */
    @Nullable
    public Written find(byte[] key) {
        final Written found = lookUp(key);
        return found != null && found.proven ? found : null;
    }

    /**
     * Records a write.
     *
     * @param key must not change afterwards
     * @param proven whether it replaced the {@link #isLast last} recorded version
     */
    public void record(byte[] key, ByteSink value, long version, boolean proven) {
        if (key.length + value.length() <= MAX_BYTES) {
            slotsToFill()
                    .setRelease(
                            slotOf(key),
                            new Written(key, Arrays.copyOf(value.bytes(), value.length()), version, proven));
        }
    }

    private AtomicReferenceArray<@Nullable Written> slotsToFill() {
        final AtomicReferenceArray<@Nullable Written> present = recorded.get();
        if (present != null) {
            return present;
        }
        final AtomicReferenceArray<@Nullable Written> own = new AtomicReferenceArray<>(1 << SLOT_BITS);
        final AtomicReferenceArray<@Nullable Written> first = recorded.compareAndExchange(null, own);
        return first == null ? own : first;
    }

    /** Whether that is the recorded version of the key. */
    public boolean isLast(byte[] key, long version) {
        final Written found = lookUp(key);
        return found != null && found.version == version;
    }

    /** Invalidates a key that an operation of this JVM has changed. */
    public void invalidate(Request request) {
        final AtomicReferenceArray<@Nullable Written> slots = recorded.get();
        if (slots == null) {
            return;
        }
        final int from = request.keyOffset();
        final int to = from + request.keyLength();
        int hash = 1;
        for (int i = from; i < to; i++) {
            hash = 31 * hash + request.key()[i];
        }
        final int slot = slotOf(hash);
        final Written found = slots.getAcquire(slot);
        if (found != null && Arrays.equals(found.key, 0, found.key.length, request.key(), from, to)) {
            slots.compareAndSet(slot, found, null);
        }
    }

    public void clear() {
        recorded.set(null);
    }

    /** Whether it takes no memory. */
    boolean isEmpty() {
        return recorded.get() == null;
    }

    /** Removes a wrong value. */
    public void remove(@Nullable Written wrong) {
        final AtomicReferenceArray<@Nullable Written> slots = recorded.get();
        if (wrong != null && slots != null) {
            slots.compareAndSet(slotOf(wrong.key), wrong, null);
        }
    }
}
