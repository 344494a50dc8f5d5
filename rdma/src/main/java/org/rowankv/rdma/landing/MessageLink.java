package org.rowankv.rdma.landing;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerFrameWriter;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.runtime.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Link for this endpoint's RPC messages to one server: one connection, established on demand, separate from queue pairs
 * so that a long message delays no append. Messages in flight are lost when the connection breaks; the next message
 * establishes another one. Messages in flight are bounded, in number and bytes, up to the receiver's queue.
 *
 * <p>Credit settlements are not lost: each is resent on the next connection until the server confirms it. While one is
 * unconfirmed, a connection is established even without messages.
 *
 * <p>Any thread; guarded by its own monitor, which is not held during waits for Netty.
 */
final class MessageLink {
    private static final Logger LOG = LoggerFactory.getLogger(MessageLink.class);

    private final LandingEndpoint endpoint;
    private final int serverId;
    private final LandingFabricSettings settings;
    private final Clock clock;
    private final PeerFrameWriter writer = new PeerFrameWriter();
    /** Sizes of the messages in flight that the receiver has not polled. */
    private final ArrayDeque<Integer> sizes = new ArrayDeque<>();

    private final ArrayDeque<ByteBuf> unsent = new ArrayDeque<>();
    /** By dead queue pair: the last settlement, if unconfirmed. */
    private final Map<Long, Settlement> unconfirmed = new LinkedHashMap<>();

    private @Nullable Channel channel;
    private boolean connecting;
    private boolean closed;
    private boolean failed;
    /** Reason of a failed attempt to connect; empty after success. */
    private volatile String lastRefusal = "";

    private long failedAtNs;
    private long sequence;
    private long acknowledged;
    private long bytes;

    private record Settlement(long receivedCredit, long returnedCredit) {}

    MessageLink(LandingEndpoint endpoint, int serverId, LandingFabricSettings settings) {
        this.endpoint = endpoint;
        this.serverId = serverId;
        this.settings = settings;
        this.clock = settings.clock();
    }

    /** Limit of bytes in flight to one server: two of the longest messages. */
    static long window(int maxRpc) {
        return 2L * maxRpc;
    }

    /** As {@link org.rowankv.rdma.Endpoint#message}. */
    int send(ByteBuffer message) {
        final int size = message.remaining();
        if (size > settings.maxRpc()) {
            return PostStatus.TOO_LARGE;
        }
        synchronized (this) {
            if (closed || isDown()) {
                return PostStatus.UNREACHABLE;
            }
            if (sizes.size() >= settings.messages() || bytes + size > window(settings.maxRpc())) {
                return PostStatus.QUEUE_FULL;
            }
            final ByteBuf frame = writer.message(endpoint.allocator(), sequence + 1, message);
            sequence++;
            sizes.add(size);
            bytes += size;
            transmit(frame);
        }
        return PostStatus.POSTED;
    }

    /** Sends a dead queue pair's settlement repeatedly until it is confirmed. */
    synchronized void settle(long pair, long receivedCredit, long returnedCredit) {
        if (closed) {
            return;
        }
        final Settlement settlement = new Settlement(receivedCredit, returnedCredit);
        unconfirmed.put(pair, settlement);
        final Channel open = channel;
        if (open == null) {
            connect(); // sends it
        } else {
            write(open, pair, settlement);
            final var unused = open.flush();
        }
    }

    private void write(Channel open, long pair, Settlement settlement) {
        final var unused = open.write(
                writer.frame(
                        endpoint.allocator(),
                        PeerFrameDescriptor.SETTLE,
                        0,
                        pair,
                        settlement.receivedCredit,
                        settlement.returnedCredit),
                open.voidPromise());
    }

    private synchronized void onSettled(long pair, long receivedCredit, long returnedCredit) {
        // A newer settlement replaced this one and will be confirmed too.
        final boolean unused = unconfirmed.remove(pair, new Settlement(receivedCredit, returnedCredit));
    }

    /** Retries unsent messages when it is time. */
    synchronized void retry() {
        if (!closed && channel == null && !unconfirmed.isEmpty()) {
            connect();
        }
    }

    private void connect() {
        if (!connecting && !isDown()) {
            connecting = true;
            endpoint.dial(endpoint.helloForMessages(serverId), endpoint.nic(), new Dialing());
        }
    }

    private boolean isDown() {
        return failed && clock.nanoTime() - failedAtNs < settings.retryMs() * 1_000_000L;
    }

    private void transmit(ByteBuf frame) {
        final Channel open = channel;
        if (open != null) {
            final var unused = open.writeAndFlush(frame, open.voidPromise());
            return;
        }
        unsent.add(frame);
        connect();
    }

    private final class Dialing implements OutboundHandshake.Outcome {
        @Override
        public FrameReader welcomed(ChannelHandlerContext context, PeerWelcome welcome) {
            return open(context.channel());
        }

        @Override
        public void failed(FabricException why) {
            LOG.debug("No message link to server {}: {}", serverId, why.getMessage());
            lastRefusal = String.valueOf(why.getMessage());
            // The other end may learn of this incarnation soon: the next message retries.
            broken(why.reason() != Reason.NOT_ADMITTED);
        }
    }

    private synchronized FrameReader open(Channel opened) {
        connecting = false;
        failed = false;
        lastRefusal = "";
        final Reader reader = new Reader();
        if (closed) {
            final var unused = opened.close();
            return reader;
        }
        channel = opened;
        endpoint.linkOpened(reader);
        for (ByteBuf frame = unsent.poll(); frame != null; frame = unsent.poll()) {
            final var unused = opened.write(frame, opened.voidPromise());
        }
        unconfirmed.forEach((pair, settlement) -> write(opened, pair, settlement));
        final var unused = opened.flush();
        return reader;
    }

    /** As {@link org.rowankv.rdma.Endpoint#lastRefusal}. */
    String lastRefusal() {
        return lastRefusal;
    }

    private synchronized void broken(boolean unreachable) {
        connecting = false;
        channel = null;
        failed = unreachable;
        failedAtNs = clock.nanoTime();
        unsent.forEach(ByteBuf::release);
        unsent.clear();
        sizes.clear();
        bytes = 0;
        sequence = 0;
        acknowledged = 0;
    }

    private synchronized void onAck(long number) throws WireException {
        if (number < acknowledged || number > sequence) {
            throw new WireException(WireFault.OUT_OF_ORDER, "acknowledges message " + number + " of " + sequence);
        }
        while (acknowledged < number) {
            acknowledged++;
            bytes -= sizes.remove();
        }
    }

    /** Ends the link. Any thread. */
    void close() {
        final Channel open;
        synchronized (this) {
            closed = true;
            open = channel;
            if (open == null) {
                unsent.forEach(ByteBuf::release);
                unsent.clear();
            }
        }
        if (open != null) {
            // After pending writes: a settlement of credit must not be overtaken.
            open.writeAndFlush(io.netty.buffer.Unpooled.EMPTY_BUFFER).addListener(written -> {
                final var unused = open.close();
            });
        }
    }

    /** Processes the receiver's acknowledgements of polled messages. */
    final class Reader extends FrameReader {
        Reader() {
            super(endpoint.faults(), settings.clock());
        }

        @Override
        public int longest(int type) {
            return type == PeerFrameDescriptor.MESSAGE_ACK || type == PeerFrameDescriptor.SETTLED
                    ? PeerFrameDescriptor.HEAD_LENGTH
                    : -1;
        }

        @Override
        protected boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException {
            final long number = FrameHeadDescriptor.number(buffer, at);
            if (FrameHeadDescriptor.type(buffer, at) == PeerFrameDescriptor.SETTLED) {
                onSettled(number, PeerFrameDescriptor.first(buffer, at), PeerFrameDescriptor.second(buffer, at));
            } else {
                onAck(number);
            }
            return true;
        }

        @Override
        protected void onBatchEnd() {
            // No thread waits for it.
        }

        @Override
        protected String describe() {
            return "server " + serverId + ", as a receiver of messages";
        }

        @Override
        protected void onEnd() {
            endpoint.linkEnded(this);
            broken(false);
        }
    }
}
