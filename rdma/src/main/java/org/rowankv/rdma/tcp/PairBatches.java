package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * What a queue pair posts, collected into a few direct buffers that go round: one is filled while the others are on their
 * way. All that is posted between two rings of the doorbell goes out as one write. While none is free, the doorbell does
 * nothing, and what is posted collects.
 *
 * <p>A buffer on its way is counted once more; Netty takes that off when the kernel has the bytes. Nothing is allocated
 * after the first round. Owned by the pair's owner.
 */
final class PairBatches {
    private static final int COUNT = 4;

    private final Channel channel;
    private final int capacity;
    private final @Nullable ByteBuf[] buffers = new @Nullable ByteBuf[COUNT];
    private final ByteBuffer[] views = new ByteBuffer[COUNT];
    private int current;
    private int filled;

    PairBatches(Channel channel, int capacity) {
        this.channel = channel;
        this.capacity = capacity;
        for (int i = 0; i < COUNT; i++) {
            views[i] = ByteBuffer.allocate(0);
        }
    }

    /** Makes sure that so many bytes follow in {@link #view} at {@link #at}; false if all buffers are on their way. */
    boolean claim(int bytes) {
        if (filled + bytes > capacity) {
            ring();
            if (filled != 0) {
                return false;
            }
        }
        if (buffers[current] == null) {
            final ByteBuf buffer = channel.alloc().directBuffer(capacity, capacity);
            buffers[current] = buffer;
            views[current] = buffer.nioBuffer(0, capacity).order(ByteOrder.LITTLE_ENDIAN);
        }
        return true;
    }

    ByteBuffer view() {
        return views[current];
    }

    int at() {
        return filled;
    }

    /** So many bytes have been put at {@link #at}. */
    void filled(int bytes) {
        filled += bytes;
    }

    /** Sends what has been collected, if another buffer is free to go on with. */
    void ring() {
        final int next = (current + 1) % COUNT;
        final ByteBuf following = buffers[next];
        final ByteBuf buffer = buffers[current];
        if (filled == 0 || buffer == null || following != null && following.refCnt() > 1) {
            return;
        }
        buffer.retain();
        buffer.setIndex(0, filled);
        current = next;
        filled = 0;
        final var unused = channel.writeAndFlush(buffer, channel.voidPromise());
    }

    boolean isEmpty() {
        return filled == 0;
    }

    /** Lets go of the buffers; those on their way are freed when they have arrived. */
    void release() {
        for (int i = 0; i < COUNT; i++) {
            final ByteBuf buffer = buffers[i];
            if (buffer != null) {
                buffers[i] = null;
                views[i] = ByteBuffer.allocate(0);
                buffer.release();
            }
        }
        filled = 0;
    }
}
