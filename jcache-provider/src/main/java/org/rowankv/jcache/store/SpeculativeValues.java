package org.rowankv.jcache.store;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.protocol.Request;

/**
 * What entry processors of this JVM have written lately, with the versions it got: a guess with which the next run on the same
 * key can begin without reading. A guess is never an answer: whatever comes of it is compared with the version in the store,
 * by the write itself or by a look.
 *
 * <p>A key is guessed only after a read has found what was remembered of it; a guess that was wrong is forgotten. So keys
 * that others write too are read as a rule.
 *
 * <p>Bounded: 4,096 keys and values of up to 512 bytes together, so 2 MiB. Thread-safe.
 */
public final class SpeculativeValues {
    private static final int SLOT_BITS = 12;
    private static final int MAX_BYTES = 512;

    private final AtomicReferenceArray<@Nullable Written> slots = new AtomicReferenceArray<>(1 << SLOT_BITS);
    /** Something was remembered: before that there is nothing to forget. */
    private volatile boolean used;

    /**
     * One write.
     *
     * @param proven whether what was remembered of the key before was found to be in the store
     */
    public record Written(byte[] key, byte[] value, long version, boolean proven) {}

    private static int slotOf(byte[] key) {
        return slotOf(Arrays.hashCode(key));
    }

    private static int slotOf(int hash) {
        return hash * 0x9E3779B9 >>> 32 - SLOT_BITS;
    }

    private @Nullable Written find(byte[] key) {
        final Written found = slots.getAcquire(slotOf(key));
        return found != null && Arrays.equals(found.key, key) ? found : null;
    }

    /** What the key's value is likely to be, or null. */
    @Nullable
    public Written guess(byte[] key) {
        final Written found = find(key);
        return found != null && found.proven ? found : null;
    }

    /**
     * Remembers a write.
     *
     * @param key not changed any more
     * @param proven whether it has replaced what was {@link #isLast the last} that was remembered
     */
    public void wrote(byte[] key, ByteSink value, long version, boolean proven) {
        if (key.length + value.length() <= MAX_BYTES) {
            used = true;
            slots.setRelease(
                    slotOf(key), new Written(key, Arrays.copyOf(value.bytes(), value.length()), version, proven));
        }
    }

    /** Whether that is the version which is remembered of the key. */
    public boolean isLast(byte[] key, long version) {
        final Written found = find(key);
        return found != null && found.version == version;
    }

    /** An operation of this JVM has changed the key. */
    public void changed(Request request) {
        if (!used) {
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

    public void forgetAll() {
        for (int slot = 0; slot < slots.length(); slot++) {
            slots.set(slot, null);
        }
    }

    /** It is not so any more. */
    public void forget(@Nullable Written wrong) {
        if (wrong != null) {
            slots.compareAndSet(slotOf(wrong.key), wrong, null);
        }
    }
}
