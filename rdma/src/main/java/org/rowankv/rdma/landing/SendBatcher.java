package org.rowankv.rdma.landing;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Batches a queue pair's posts in a few direct buffers, used in turn: one is filled while the others are being sent.
 * All posts between two doorbells form one write. While no buffer is free, the doorbell does nothing and posts
 * accumulate.
 *
 * <p>A buffer being sent has one more reference; Netty releases it when the kernel has the bytes. Allocates nothing
 * after the first use of each buffer, except a task per batch if the owner is not the event loop. Owned by the pair's
 * owner, which may alternate between the event loop and other threads.
 */
final class SendBatcher {
    private static final int COUNT = 4;

    private final Channel channel;
    private final int capacity;
    private final @Nullable ByteBuf[] buffers = new @Nullable ByteBuf[COUNT];
    private final ByteBuffer[] views = new ByteBuffer[COUNT];
    private int current;
    private int filled;
    /** Batches submitted to the event loop. */
    private long handedOver;
    /** Batches that it has written. Event loop only. */
    private long taken;

    SendBatcher(Channel channel, int capacity) {
        this.channel = channel;
        this.capacity = capacity;
        for (int i = 0; i < COUNT; i++) {
            views[i] = ByteBuffer.allocate(0);
        }
    }

    /** Ensures space for the bytes in {@link #view} at {@link #at}; false if all buffers are being sent. */
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

    /** Records bytes written at {@link #at}. */
    void filled(int bytes) {
        filled += bytes;
    }

    /** Sends the collected bytes, if another buffer is free. */
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
        final EventLoop loop = channel.eventLoop();
        // On the event loop too: batches of a former owner's thread must be sent first.
        if (loop.inEventLoop() && handedOver == taken) {
            write(buffer);
        } else {
            handOver(loop, buffer);
        }
    }

    private void write(ByteBuf buffer) {
        final var unused = channel.writeAndFlush(buffer, channel.voidPromise());
    }

    private void handOver(EventLoop loop, ByteBuf buffer) {
        handedOver++;
        try {
            loop.execute(() -> {
                taken++;
                write(buffer);
            });
        } catch (RejectedExecutionException e) {
            // The connection has ended with its event loop.
            handedOver--;
            buffer.release();
        }
    }

    boolean isEmpty() {
        return filled == 0;
    }

    /** Releases the buffers; those being sent are freed afterwards. */
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
