package org.rowankv.rdma.tcp;

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
import org.rowankv.rdma.tcp.wire.FrameReader;
import org.rowankv.rdma.tcp.wire.PeerFrameDescriptor;
import org.rowankv.rdma.tcp.wire.PeerFrameWriter;
import org.rowankv.rdma.tcp.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.runtime.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The RPC messages of this endpoint to one server: one connection, made when first needed, apart from the queue pairs so
 * that a long message delays no append. What was on its way when the connection broke is lost; the next message makes
 * another. What is on the way is bounded, in messages and in bytes, from here into the receiver's queue.
 *
 * <p>Settlements of credit are not lost: each is said again on the next connection until the server has confirmed it. While
 * there are such, a connection is made even if nobody has a message.
 *
 * <p>Any thread; guarded by its own monitor, which is not held while Netty is waited for.
 */
final class MessageLink {
    private static final Logger LOG = LoggerFactory.getLogger(MessageLink.class);

    private final TcpEndpoint endpoint;
    private final int serverId;
    private final TcpFabricSettings settings;
    private final Clock clock;
    private final PeerFrameWriter writer = new PeerFrameWriter();
    /** Sizes of the messages that are on the way and not polled by the receiver. */
    private final ArrayDeque<Integer> sizes = new ArrayDeque<>();

    private final ArrayDeque<ByteBuf> unsent = new ArrayDeque<>();
    /** By dead queue pair: the last that was to be said of it, and is not confirmed. */
    private final Map<Long, Settlement> unconfirmed = new LinkedHashMap<>();

    private @Nullable Channel channel;
    private boolean connecting;
    private boolean closed;
    private boolean failed;
    /** Why it could not connect; empty once it did. */
    private volatile String lastRefusal = "";

    private long failedAtNs;
    private long sequence;
    private long acknowledged;
    private long bytes;

    private record Settlement(long heardOf, long givenBack) {}

    MessageLink(TcpEndpoint endpoint, int serverId, TcpFabricSettings settings) {
        this.endpoint = endpoint;
        this.serverId = serverId;
        this.settings = settings;
        this.clock = settings.clock();
    }

    /** Most bytes of messages on the way to one server: room for one of the longest behind another. */
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

    /** Says what is to be said of a dead queue pair's credit, again and again until it is heard. */
    synchronized void settle(long pair, long heardOf, long givenBack) {
        if (closed) {
            return;
        }
        final Settlement settlement = new Settlement(heardOf, givenBack);
        unconfirmed.put(pair, settlement);
        final Channel open = channel;
        if (open == null) {
            connect(); // it is said there
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
                        settlement.heardOf,
                        settlement.givenBack),
                open.voidPromise());
    }

    private synchronized void onSettled(long pair, long heardOf, long givenBack) {
        // Of an older word there was a newer one since: that is confirmed too, later.
        final boolean unused = unconfirmed.remove(pair, new Settlement(heardOf, givenBack));
    }

    /** Goes on with what could not be said, if it is time. */
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
            // The other end may hear of this start in a moment: the next message tries again.
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
            // Behind what was written: a settlement of credit must not be overtaken.
            open.writeAndFlush(io.netty.buffer.Unpooled.EMPTY_BUFFER).addListener(written -> {
                final var unused = open.close();
            });
        }
    }

    /** Hears what the receiver has polled. */
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
            // Nobody waits for it.
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
