package org.rowankv.rdma.landing;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;

/**
 * Receiving end of a message link: keeps arrived messages until polled, and acknowledges polled ones. A sender that
 * exceeds its window of messages or bytes is disconnected. Runs on the NIC agent's event loop, except {@link #poll}.
 */
final class MessageReceiver extends FrameReader {
    private final PeerHello peer;
    private final LandingEndpoint endpoint;
    private final Channel channel;
    private final LandingFabricSettings settings;
    private final ConcurrentLinkedQueue<ByteBuffer> queue = new ConcurrentLinkedQueue<>();
    private final AtomicLong polled = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicBoolean ackScheduled = new AtomicBoolean();
    private final Runnable acknowledging = this::acknowledge;
    private long arrived;
    private long lastAcked;

    MessageReceiver(PeerHello peer, Channel channel, LandingEndpoint endpoint, LandingFabricSettings settings) {
        super(endpoint.faults(), settings.clock());
        this.peer = peer;
        this.channel = channel;
        this.endpoint = endpoint;
        this.settings = settings;
    }

    PeerHello peer() {
        return peer;
    }

    @Override
    public int longest(int type) {
        return switch (type) {
            case PeerFrameDescriptor.MESSAGE -> PeerFrameDescriptor.HEAD_LENGTH + settings.maxRpc();
            case PeerFrameDescriptor.SETTLE, PeerFrameDescriptor.PING -> PeerFrameDescriptor.HEAD_LENGTH;
            default -> -1;
        };
    }

    @Override
    protected boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException {
        switch (FrameHeadDescriptor.type(buffer, at)) {
            case PeerFrameDescriptor.MESSAGE -> onMessage(buffer, at, length);
            case PeerFrameDescriptor.SETTLE -> {
                return onSettle(
                        FrameHeadDescriptor.number(buffer, at),
                        PeerFrameDescriptor.first(buffer, at),
                        PeerFrameDescriptor.second(buffer, at));
            }
            default -> {
                // A ping, which has updated the time of the last read.
            }
        }
        return true;
    }

    private void onMessage(ByteBuffer buffer, int at, int length) throws WireException {
        if (FrameHeadDescriptor.number(buffer, at) != arrived + 1) {
            throw new WireException(WireFault.OUT_OF_ORDER, "message " + FrameHeadDescriptor.number(buffer, at));
        }
        final int size = length - PeerFrameDescriptor.HEAD_LENGTH;
        if (arrived - polled.get() >= settings.messages()
                || bytes.get() + size > MessageLink.window(settings.maxRpc())) {
            throw new WireException(WireFault.BEYOND_ITS_WINDOW, "with messages");
        }
        PeerFrameDescriptor.checkPayload(buffer, at, length, checksum);
        final byte[] copy = new byte[size];
        buffer.get(at + PeerFrameDescriptor.HEAD_LENGTH, copy);
        arrived++;
        bytes.addAndGet(size);
        queue.add(ByteBuffer.wrap(copy));
    }

    /** Confirms a settlement, also of an unknown queue pair; waits while the peer does not read. */
    private boolean onSettle(long pair, long receivedCredit, long returnedCredit) throws WireException {
        if (!channel.isWritable()) {
            return false;
        }
        endpoint.onSettle(peer, pair, receivedCredit, returnedCredit);
        write(channel, PeerFrameDescriptor.SETTLED, 0, pair, receivedCredit, returnedCredit);
        return true;
    }

    /** The next message, or null; on the polling thread. */
    @Nullable
    ByteBuffer poll() {
        final ByteBuffer message = queue.poll();
        if (message != null) {
            bytes.addAndGet(-message.remaining());
            polled.incrementAndGet();
            if (ackScheduled.compareAndSet(false, true)) {
                LandingFabric.execute(channel.eventLoop(), acknowledging);
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
        send(channel, PeerFrameDescriptor.MESSAGE_ACK, 0, now, 0, 0);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext changed) {
        if (channel.isWritable()) {
            resume(changed);
        }
        acknowledge();
    }

    @Override
    protected String describe() {
        return "server " + peer.from() + ", messages";
    }

    @Override
    protected void onHeld(int delta) {
        endpoint.held(delta);
    }

    @Override
    protected void onHeartbeat(Channel to) {
        writeAck(polled.get());
    }

    /** A newer link of the same server replaces this one, or the endpoint closes. Any thread. */
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

    /** Whether nothing more arrives and all messages were polled. */
    boolean isOver() {
        return !channel.isActive() && queue.isEmpty();
    }
}
