package org.rowankv.server.durability;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.rowankv.runtime.AlignedBuffers;

/**
 * Memory with a durable image. Stores hit the visible bytes; flush marks a range; drain makes marked ranges durable. A
 * crash keeps or drops each 8-byte word that is not durable, by coin, and loses nothing else.
 */
public final class CrashMemory implements DurabilityVerbs {
    private final ByteBuffer visible;
    private final byte[] durable;
    private final List<long[]> flushed = new ArrayList<>();
    private final List<Runnable> beforeDrain = new ArrayList<>();
    private boolean delaysRequests;
    private long requested;
    private long forcedUpTo;

    public CrashMemory(int length) {
        visible = AlignedBuffers.allocate(length, 64);
        durable = new byte[length];
    }

    public ByteBuffer visible() {
        return visible;
    }

    /** Runs before every drain takes effect: the worst moment for a crash. */
    public void beforeDrain(Runnable action) {
        beforeDrain.add(action);
    }

    /** From now on a requested drain is not durable until a drain. */
    public void delayRequests() {
        delaysRequests = true;
    }

    @Override
    public long request() {
        if (delaysRequests) {
            return ++requested;
        }
        drain();
        return requested;
    }

    @Override
    public boolean isForced(long ticket) {
        return ticket <= forcedUpTo;
    }

    @Override
    public void flush(long address, long length) {
        flushed.add(new long[] {address, length});
    }

    @Override
    public void drain() {
        beforeDrain.forEach(Runnable::run);
        for (long[] range : flushed) {
            visible.get((int) range[0], durable, (int) range[0], (int) range[1]);
        }
        flushed.clear();
        forcedUpTo = requested;
    }

    /** The bytes that a restart finds. */
    public ByteBuffer crash(Random random) {
        final ByteBuffer found = AlignedBuffers.allocate(durable.length, 64);
        final ByteBuffer old = ByteBuffer.wrap(durable).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < durable.length; at += Long.BYTES) {
            found.putLong(at, random.nextBoolean() ? visible.getLong(at) : old.getLong(at));
        }
        return found;
    }
}
