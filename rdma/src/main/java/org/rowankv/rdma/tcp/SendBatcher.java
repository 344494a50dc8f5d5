package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * What a queue pair posts, collected into a few direct buffers that go round: one is filled while the others are on their
 * way. All that is posted between two rings of the doorbell goes out as one write. While none is free, the doorbell does
 * nothing, and what is posted collects.
 *
 * <p>A buffer on its way is counted once more; Netty takes that off when the kernel has the bytes. Nothing is allocated
 * after the first round, except a task for each batch of an owner that is not the event loop. Owned by the pair's owner, who
 * may be the event loop at one time and not at another.
 */
final class SendBatcher {
    private static final int COUNT = 4;

    private final Channel channel;
    private final int capacity;
    private final @Nullable ByteBuf[] buffers = new @Nullable ByteBuf[COUNT];
    private final ByteBuffer[] views = new ByteBuffer[COUNT];
    private int current;
    private int filled;
    /** Batches that were given to the event loop to be written behind others. */
    private long handedOver;
    /** How many of those it has written. Event loop only. */
    private long taken;

    SendBatcher(Channel channel, int capacity) {
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
        final EventLoop loop = channel.eventLoop();
        // On the event loop too, behind what a former owner's thread has handed to it: batches go out in their order.
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
