package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.tcp.wire.FrameReader;
import org.rowankv.rdma.tcp.wire.HelloDescriptor.Hello;
import org.rowankv.rdma.tcp.wire.WireDescriptor;
import org.rowankv.rdma.tcp.wire.WireException;
import org.rowankv.rdma.tcp.wire.WireFault;
import org.rowankv.runtime.Clock;

/**
 * The receiving end of a message link: keeps what has come until it is polled, and acknowledges what was. The sender may
 * have so many messages and bytes on the way and no more; one that has is cut off. Runs on the NIC agent's event loop,
 * except {@link #poll}.
 */
final class MessageReceiver extends FrameReader {
    private final Hello peer;
    private final TcpEndpoint endpoint;
    private final Channel channel;
    private final TcpFabricSettings settings;
    private final Clock clock;
    private final ConcurrentLinkedQueue<ByteBuffer> queue = new ConcurrentLinkedQueue<>();
    private final AtomicLong polled = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicBoolean ackScheduled = new AtomicBoolean();
    private final Runnable acknowledging = this::acknowledge;
    private @Nullable ChannelHandlerContext context;
    private long arrived;
    private long lastAcked;
    private long lastWriteNs;

    MessageReceiver(Hello peer, Channel channel, TcpEndpoint endpoint, TcpFabricSettings settings) {
        super(endpoint.faults(), settings.clock());
        this.peer = peer;
        this.channel = channel;
        this.endpoint = endpoint;
        this.settings = settings;
        this.clock = settings.clock();
        this.lastWriteNs = clock.nanoTime();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    Hello peer() {
        return peer;
    }

    @Override
    public int mostPayload(int type) {
        return switch (type) {
            case WireDescriptor.MESSAGE -> settings.maxRpc();
            case WireDescriptor.SETTLE, WireDescriptor.PING -> 0;
            default -> -1;
        };
    }

    @Override
    protected boolean onFrame(ByteBuf buffer, int at, int length) throws WireException {
        switch (WireDescriptor.type(buffer, at)) {
            case WireDescriptor.MESSAGE -> onMessage(buffer, at, length);
            case WireDescriptor.SETTLE -> {
                return onSettle(
                        WireDescriptor.number(buffer, at),
                        WireDescriptor.first(buffer, at),
                        WireDescriptor.second(buffer, at));
            }
            default -> {
                // A ping: it was heard.
            }
        }
        return true;
    }

    private void onMessage(ByteBuf buffer, int at, int length) throws WireException {
        if (WireDescriptor.number(buffer, at) != arrived + 1) {
            throw new WireException(WireFault.OUT_OF_ORDER, "message " + WireDescriptor.number(buffer, at));
        }
        final int size = length - WireDescriptor.HEADER_LENGTH;
        if (arrived - polled.get() >= settings.messages()
                || bytes.get() + size > MessageLink.window(settings.maxRpc())) {
            throw new WireException(WireFault.BEYOND_ITS_WINDOW, "with messages");
        }
        WireDescriptor.checkPayload(buffer, at, length, checksum);
        final ByteBuffer copy = ByteBuffer.allocate(size);
        buffer.getBytes(at + WireDescriptor.HEADER_LENGTH, copy);
        arrived++;
        bytes.addAndGet(size);
        queue.add(copy.flip());
    }

    /** Confirms it too, also of a queue pair that is not known here any more; waits while the peer does not read that. */
    private boolean onSettle(long pair, long heardOf, long givenBack) throws WireException {
        if (!channel.isWritable()) {
            return false;
        }
        endpoint.onSettle(peer, pair, heardOf, givenBack);
        final ByteBuf settled = channel.alloc().directBuffer(WireDescriptor.HEADER_LENGTH);
        WireDescriptor.header(settled, WireDescriptor.SETTLED, 0, 0, 0, pair, heardOf, givenBack, checksum);
        final var unused = channel.write(settled, channel.voidPromise());
        return true;
    }

    /** The next message, or null; on the thread that polls. */
    @Nullable
    ByteBuffer poll() {
        final ByteBuffer message = queue.poll();
        if (message != null) {
            bytes.addAndGet(-message.remaining());
            polled.incrementAndGet();
            if (ackScheduled.compareAndSet(false, true)) {
                TcpFabric.execute(channel.eventLoop(), acknowledging);
            }
        }
        return message;
    }

    private void acknowledge() {
        ackScheduled.set(false);
        final long now = polled.get();
        if (now != lastAcked && channel.isActive() && channel.isWritable()) {
            writeAck(now);
        }
    }

    private void writeAck(long now) {
        lastAcked = now;
        lastWriteNs = clock.nanoTime();
        final ByteBuf ack = channel.alloc().directBuffer(WireDescriptor.HEADER_LENGTH);
        WireDescriptor.header(ack, WireDescriptor.MESSAGE_ACK, 0, 0, 0, now, 0, 0, checksum);
        final var unused = channel.writeAndFlush(ack, channel.voidPromise());
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext changed) {
        if (channel.isWritable()) {
            resume(changed);
        }
        acknowledge();
    }

    private String describe() {
        return "server " + peer.from() + ", messages";
    }

    @Override
    protected void onHeld(int delta) {
        endpoint.held(delta);
    }

    /** Ends it, since too much is held of frames that are not whole. */
    void endForMemory() {
        final ChannelHandlerContext here = context;
        if (here != null) {
            endForMemory(here, describe());
        }
    }

    void tick(long nowNs, long heartbeatNs, long idleNs) {
        final ChannelHandlerContext here = context;
        if (here == null || !channel.isActive()) {
            return;
        }
        if (!endIfQuiet(here, nowNs, idleNs, describe())
                && nowNs - lastWriteNs >= heartbeatNs
                && channel.isWritable()) {
            writeAck(polled.get());
        }
    }

    /** Another link of the same server has taken its place, or the endpoint closes. Any thread. */
    void close() {
        final var unused = channel.close();
    }

    @Override
    protected void onBatchEnd() {
        final var unused = channel.flush();
        endpoint.onMessages();
    }

    @Override
    protected void onEnd() {
        endpoint.forget(this);
    }

    /** Whether nothing more comes and all that came was polled. */
    boolean isOver() {
        return !channel.isActive() && queue.isEmpty();
    }
}
